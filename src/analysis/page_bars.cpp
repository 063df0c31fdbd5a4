#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analysis/page_charts.h"
#include "measure/significance.h"

namespace falcon::analysis {
namespace {

using Figure = Measured<double> RunFacts::*;

Chart bar_chart(const std::string& id, const std::string& title, const std::string& note,
                const std::string& unit) {
  Chart chart;
  chart.id = id;
  chart.kind = "bars";
  chart.title = title;
  chart.note = note;
  chart.unit = unit;
  chart.columns = {unit + ", mean of the runs", "lowest run", "highest run"};
  return chart;
}

/// Mean, smallest and largest of the runs; missing when a run lacks the figure.
ChartRow figure_row(const PageGroup& group, Figure figure, double scale) {
  ChartRow row = row_of(group);
  std::vector<double> values;
  for (const PageRun* run : group.counted) {
    const Measured<double>& value = run->facts.*figure;
    if (!value.has_value()) {
      row.missing = value.reason;
      return row;
    }
    values.push_back(*value * scale);
  }
  if (values.empty()) {
    row.missing = "no run ended well";
    return row;
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  row.values = {*group_mean(group.grouped, figure) * scale, *low, *high};
  return row;
}

/// A chart in which nothing was measured shows one reason instead of many.
void settle(Chart& chart) {
  const auto lacks_values = [](const ChartRow& row) { return row.values.empty(); };
  if (!std::all_of(chart.rows.begin(), chart.rows.end(), lacks_values)) return;
  std::set<std::string> reasons;
  for (const ChartRow& row : chart.rows) reasons.insert(row.missing);
  for (const std::string& reason : reasons) {
    chart.empty += (chart.empty.empty() ? "" : "; ") + reason;
  }
  if (chart.empty.empty()) chart.empty = "no report has what this needs";
}

Chart figure_chart(const std::vector<PageGroup>& groups, Chart chart, Figure figure,
                   double scale = 1) {
  for (const PageGroup& group : groups) chart.rows.push_back(figure_row(group, figure, scale));
  settle(chart);
  return chart;
}

std::vector<double> sample_times(const PageGroup& group) {
  std::vector<double> times;
  for (const PageRun* run : group.counted) {
    if (run->facts.sample_time_ms.has_value()) times.push_back(*run->facts.sample_time_ms);
  }
  return times;
}

ChartRow relative_row(const PageGroup& group, const PageGroup& base) {
  ChartRow row = row_of(group);
  const Measured<double>& time = group.grouped.group.sample_time_ms;
  const Measured<double>& base_time = base.grouped.group.sample_time_ms;
  if (!time.has_value() || !base_time.has_value()) {
    row.missing = time.has_value() ? "base: " + base_time.reason : time.reason;
    return row;
  }
  row.values = {*time / *base_time, std::nullopt, std::nullopt};
  const std::vector<double> times = sample_times(group);
  const std::vector<double> base_times = sample_times(base);
  if (&group == &base || times.size() < 2 || base_times.size() < 2) return row;
  const measure::Interval interval = measure::bootstrap_ratio_95(times, base_times);
  row.values = {*time / *base_time, interval.low, interval.high};
  return row;
}

Chart relative_chart(const std::vector<PageGroup>& groups) {
  Chart chart = bar_chart(
      "training_time", "Training time relative to the base",
      "Time for the same samples, evaluation and checkpoints included, over that of the base "
      "(localGPUs where there is such a run, else the first configuration of the same work). 1.05 "
      "is 5 % slower. Whiskers: 95 % interval by bootstrap over runs, where both have repeats. "
      "The paper's Fig 11.",
      "times the base");
  chart.columns = {"times the base", "95 % interval from", "to"};
  chart.reference = 1;
  for (const PageGroup& group : groups) {
    chart.rows.push_back(relative_row(group, groups[group.base]));
  }
  settle(chart);
  return chart;
}

/// Groups that differ from another one of the same work in nothing but the storage.
bool has_storage_twin(const PageGroup& group, const std::vector<PageGroup>& groups) {
  const RunGroup& own = group.grouped.group;
  return std::any_of(groups.begin(), groups.end(), [&own](const PageGroup& other) {
    const RunGroup& twin = other.grouped.group;
    return twin.work == own.work && twin.settings.at("topology") == own.settings.at("topology") &&
           twin.settings.at("storage") != own.settings.at("storage");
  });
}

Chart storage_chart(const std::vector<PageGroup>& groups) {
  Chart chart =
      bar_chart("storage", "Training time by storage",
                "Runs of the same work on the same GPUs that read from different storage, "
                "over the base as above. The paper's Fig 16.",
                "times the base");
  chart.columns = {"times the base", "95 % interval from", "to"};
  chart.reference = 1;
  for (const PageGroup& group : groups) {
    if (!has_storage_twin(group, groups)) continue;
    ChartRow row = relative_row(group, groups[group.base]);
    const std::string& storage = group.grouped.group.settings.at("storage");
    row.label = (storage.empty() ? "default storage" : storage) + " (" +
                group.grouped.group.settings.at("topology") + ")";
    chart.rows.push_back(std::move(row));
  }
  settle(chart);
  return chart;
}

std::string software_of(const PageRun& run) {
  return run.facts.parallelism + ", " + run.facts.precision + ", " +
         std::to_string(run.batch_per_device) + " a device";
}

Chart software_chart(const std::vector<PageGroup>& groups) {
  Chart chart = bar_chart("software", "Software study: throughput by strategy, precision and batch",
                          "Models that were run in more than one of them. The paper's study of "
                          "DP, DDP, sharding and mixed precision.",
                          "samples/s");
  std::map<std::string, std::set<std::string>> ways;
  for (const PageGroup& group : groups) {
    for (const PageRun* run : group.counted) ways[run->facts.model].insert(software_of(*run));
  }
  for (const PageGroup& group : groups) {
    if (group.counted.empty() || ways[group.grouped.group.model].size() < 2) continue;
    ChartRow row = figure_row(group, &RunFacts::samples_per_s, 1);
    const PageRun& run = *group.counted.front();
    row.color_key = software_of(run);
    row.label = run.facts.topology + ": " + row.color_key;
    chart.rows.push_back(std::move(row));
  }
  settle(chart);
  return chart;
}

Chart pcie_chart(const std::vector<PageGroup>& groups) {
  const bool has_chassis = std::any_of(groups.begin(), groups.end(), [](const PageGroup& group) {
    return std::any_of(group.counted.begin(), group.counted.end(), [](const PageRun* run) {
      return run->facts.falcon_pcie_bytes_per_s.has_value();
    });
  });
  Chart chart = bar_chart(
      "pcie", has_chassis ? "PCIe traffic of the GPUs in the chassis" : "PCIe traffic of all GPUs",
      std::string("Received and sent, sum over the GPUs, mean over the measured window, protocol "
                  "included. The paper's Fig 12") +
          (has_chassis ? "." : "; no report says which GPUs are in a chassis."),
      "GB/s");
  return figure_chart(
      groups, chart, has_chassis ? &RunFacts::falcon_pcie_bytes_per_s : &RunFacts::pcie_bytes_per_s,
      1e-9);
}

Chart cost_chart(const std::vector<PageGroup>& groups, const Price& price) {
  Chart chart = bar_chart("cost", "Samples for the price",
                          "Samples trained for one " + price.currency + " at the price given.",
                          "samples/" + price.currency);
  for (const PageGroup& group : groups) {
    ChartRow row = row_of(group);
    double sum = 0;
    for (const PageRun* run : group.counted) {
      const Measured<double> samples = samples_per_price(run->facts, price);
      if (!samples.has_value()) row.missing = samples.reason;
      sum += samples.value.value_or(0);
    }
    if (group.counted.empty()) row.missing = "no run ended well";
    if (row.missing.empty()) {
      row.values = {sum / static_cast<double>(group.counted.size()), std::nullopt, std::nullopt};
    }
    chart.rows.push_back(std::move(row));
  }
  settle(chart);
  return chart;
}

struct PlainChart {
  const char *id, *title, *note, *unit;
  Figure figure;
  double scale;
};
constexpr std::array kPlain{
    PlainChart{
        "gpu_busy", "GPU utilisation",
        "Share of the measured window in which a kernel was resident, mean over the GPUs: not "
        "a measure of work. The paper's Fig 10.",
        "%", &RunFacts::gpu_busy_pct, 1},
    PlainChart{"gpu_memory", "GPU memory in use", "Of the board, mean over the GPUs. Fig 10.", "%",
               &RunFacts::gpu_memory_used_pct, 1},
    PlainChart{"gpu_memory_access", "Time accessing GPU memory",
               "Share of the window in which device memory was read or written. Fig 10.", "%",
               &RunFacts::gpu_memory_busy_pct, 1},
    PlainChart{"throughput", "Throughput", "All devices together, measured steps only.",
               "samples/s", &RunFacts::samples_per_s, 1},
    PlainChart{"cpu", "CPU utilisation",
               "Busy share of the host's logical CPUs, whoever used them. The paper's Fig 13.", "%",
               &RunFacts::cpu_pct, 1},
    PlainChart{"host_memory", "Host memory in use", "Mean over the window. The paper's Fig 14.",
               "GB", &RunFacts::host_memory_bytes, 1e-9},
    PlainChart{"energy", "Energy a sample", "Boards of the GPUs only, without the host.", "J",
               &RunFacts::energy_j_per_sample, 1},
    PlainChart{"energy_epoch", "Energy of one pass over the data", "Boards of the GPUs only.", "kJ",
               &RunFacts::energy_j_per_epoch, 1e-3}};

}  // namespace

ChartRow row_of(const PageGroup& group) {
  ChartRow row;
  row.panel = group.grouped.group.model;
  row.label = group.grouped.group.name;
  row.color_key = row.label;
  row.runs = group.grouped.group.runs;
  row.emulated = group.grouped.group.emulated;
  return row;
}

void add_bar_charts(const std::vector<PageGroup>& groups, const Price& price,
                    std::vector<Chart>& out) {
  out.push_back(relative_chart(groups));
  for (const PlainChart& plain : kPlain) {
    out.push_back(figure_chart(groups, bar_chart(plain.id, plain.title, plain.note, plain.unit),
                               plain.figure, plain.scale));
  }
  out.push_back(pcie_chart(groups));
  out.push_back(storage_chart(groups));
  out.push_back(software_chart(groups));
  if (price.per_gpu_hour) out.push_back(cost_chart(groups, price));
}

}  // namespace falcon::analysis
