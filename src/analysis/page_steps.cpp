#include <algorithm>
#include <utility>

#include "analysis/page_charts.h"

namespace falcon::analysis {
namespace {

Chart phase_chart(const std::vector<PageGroup>& groups) {
  Chart chart;
  chart.id = "phases";
  chart.kind = "stack";
  chart.title = "Where a step's time goes";
  chart.note =
      "Exposed time on the training stream, mean of a step over ranks and runs; the phases do not "
      "overlap. A phase that could not be told apart is in other.";
  chart.unit = "ms";
  for (const std::string& name : phase_names()) chart.columns.push_back(name + ", ms");
  for (const PageGroup& group : groups) {
    ChartRow row = row_of(group);
    bool has_any = false;
    for (const std::string& name : phase_names()) {
      double sum = 0;
      bool is_whole = !group.counted.empty();
      for (const PageRun* run : group.counted) {
        const Measured<double>& ms = run->phases_ms.at(name);
        is_whole = is_whole && ms.has_value();
        sum += ms.value.value_or(0);
        if (!ms.has_value()) row.missing = name + ": " + ms.reason;
      }
      has_any = has_any || is_whole;
      row.values.push_back(is_whole ? std::optional(sum / static_cast<double>(group.counted.size()))
                                    : std::nullopt);
    }
    if (group.counted.empty()) row.missing = "no run ended well";
    if (!has_any) row.values.clear();
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

/// Of repeats the run with the middle median: a distribution of one run, not a mixture.
const PageRun* middle_run(const PageGroup& group) {
  std::vector<const PageRun*> runs;
  for (const PageRun* run : group.counted) {
    if (run->step_time_ms.p50.has_value()) runs.push_back(run);
  }
  if (runs.empty()) return nullptr;
  std::sort(runs.begin(), runs.end(), [](const PageRun* a, const PageRun* b) {
    return *a->step_time_ms.p50 < *b->step_time_ms.p50;
  });
  return runs[(runs.size() - 1) / 2];
}

Chart step_chart(const std::vector<PageGroup>& groups) {
  Chart chart;
  chart.id = "steps";
  chart.kind = "boxes";
  chart.title = "Distribution of step times";
  chart.note =
      "Line: smallest to largest step. Box: median to 95th percentile, mark at the 90th; dot: "
      "99th. "
      "Of repeats the run with the middle median.";
  chart.unit = "ms";
  chart.columns = {"min, ms", "median, ms", "p90, ms", "p95, ms", "p99, ms", "max, ms", "steps"};
  for (const PageGroup& group : groups) {
    ChartRow row = row_of(group);
    if (const PageRun* run = middle_run(group)) {
      const Statistics& s = run->step_time_ms;
      row.values = {s.min.value,
                    s.p50.value,
                    s.p90.value,
                    s.p95.value,
                    s.p99.value,
                    s.max.value,
                    static_cast<double>(s.count)};
    } else {
      row.missing = group.counted.empty() ? "no run ended well" : "no step times";
    }
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

Chart time_chart(const std::vector<PageGroup>& groups) {
  Chart chart;
  chart.id = "gpu_over_time";
  chart.kind = "lines";
  chart.title = "GPU utilisation over time";
  chart.note =
      "Mean over the GPUs, from the start of sampling to the end of the run, set-up and warm-up "
      "included; of repeats the first run. Dips are pauses: checkpoints, evaluation, waiting for "
      "data. The paper's Fig 9.";
  chart.unit = "%";
  std::string reason = "no run ended well";
  for (const PageGroup& group : groups) {
    ChartRow row = row_of(group);
    row.runs = std::min<std::int64_t>(row.runs, 1);
    if (!group.counted.empty()) {
      const Measured<EvenSeries>& series = group.counted.front()->gpu_busy_pct;
      if (series.has_value()) {
        row.interval_s = series.value->interval_s;
        row.values = series.value->values;
      } else {
        row.missing = reason = series.reason;
      }
    }
    chart.rows.push_back(std::move(row));
  }
  const bool is_empty = std::all_of(chart.rows.begin(), chart.rows.end(),
                                    [](const ChartRow& row) { return row.values.empty(); });
  if (is_empty) chart.empty = reason;
  return chart;
}

}  // namespace

void add_step_charts(const std::vector<PageGroup>& groups, std::vector<Chart>& out) {
  out.push_back(phase_chart(groups));
  out.push_back(step_chart(groups));
  out.push_back(time_chart(groups));
}

}  // namespace falcon::analysis
