#include "analysis/page_run.h"

#include <algorithm>

#include "report/figures.h"

namespace falcon::analysis {
namespace {

/// Collects the phases by their field list.
struct PhaseList {
  std::vector<std::string> names;
  std::map<std::string, Measured<double>> ms;
  void field(const char* name, const Measured<Statistics>& phase, const char*) {
    names.emplace_back(name);
    ms[name] = phase.has_value() ? phase.value->mean : Measured<double>::missing(phase.reason);
  }
};

PhaseList phases_of(Phases phases) {
  PhaseList list;
  visit_fields(phases, list);
  return list;
}

/// Sums of value x seconds and of seconds, by interval.
struct Bins {
  double interval_s;
  std::vector<double> sums, seconds;

  /// A reading stands for the time since the one before.
  void add(double from_s, double to_s, double value) {
    const auto last = static_cast<double>(sums.size());
    const auto first_bin = static_cast<std::size_t>(std::clamp(from_s / interval_s, 0.0, last));
    for (std::size_t bin = first_bin; bin < sums.size(); ++bin) {
      const double begin_s = static_cast<double>(bin) * interval_s;
      if (begin_s >= to_s) break;
      const double overlap_s = std::min(to_s, begin_s + interval_s) - std::max(from_s, begin_s);
      if (overlap_s <= 0) continue;
      sums[bin] += value * overlap_s;
      seconds[bin] += overlap_s;
    }
  }
};

Measured<EvenSeries> even_series(const Report& report, const std::string& metric,
                                 std::size_t points) {
  std::vector<const Series*> found;
  double end_s = 0;
  for (const auto& [name, series] : report.series) {
    if (series.metric != metric || series.t_s.empty()) continue;
    found.push_back(&series);
    end_s = std::max(end_s, series.t_s.back());
  }
  if (found.empty() || !(end_s > 0)) {
    return Measured<EvenSeries>::missing(report.utilization.gpus.empty() ? "no GPU computed"
                                                                         : "no readings over time");
  }
  const std::size_t number = std::min(points, found.front()->t_s.size());
  Bins bins{end_s / static_cast<double>(number), std::vector<double>(number),
            std::vector<double>(number)};
  for (const Series* series : found) {
    double from_s = 0;
    for (std::size_t i = 0; i < std::min(series->t_s.size(), series->values.size()); ++i) {
      bins.add(from_s, series->t_s[i], series->values[i]);
      from_s = series->t_s[i];
    }
  }
  EvenSeries out;
  out.interval_s = bins.interval_s;
  for (std::size_t i = 0; i < number; ++i) {
    const bool is_covered = bins.seconds[i] > 0;
    out.values.push_back(is_covered ? std::optional(bins.sums[i] / bins.seconds[i]) : std::nullopt);
  }
  return out;
}

std::string text_or(const Measured<std::string>& text, const std::string& fallback) {
  return text.has_value() ? *text : fallback;
}

std::string versions_text(const Host& host) {
  std::string text;
  for (const auto& [name, version] : host.libraries) {
    text += (text.empty() ? "" : ", ") + name + " " + text_or(version.loaded, version.built);
  }
  return text;
}

std::map<std::string, std::string> machine_of(const Report& report, const RunFacts& facts) {
  const Host& host = report.system;
  std::map<std::string, std::string> out;
  out["host"] = facts.hostname.empty() ? host.hostname : facts.hostname;
  out["system"] = text_or(host.os, "not known") + ", kernel " + text_or(host.kernel, "not known");
  out["CPU"] = text_or(host.cpu.model, "not known") + ", " + std::to_string(host.cpu.logical) +
               " logical, " + std::to_string(host.cpu.usable) + " usable";
  out["host memory"] = host.memory_bytes.has_value()
                           ? report::bytes_text(static_cast<double>(*host.memory_bytes))
                           : "not known";
  out["devices"] = facts.devices_text;
  out["driver"] = text_or(host.driver, "none");
  out["libraries"] = versions_text(host);
  out["container"] = text_or(host.container, "none known");
  return out;
}

Measured<double> pauses_ms(const Training& training) {
  const Measured<double>& all_s = training.training_time_s;
  if (!all_s.has_value()) return Measured<double>::missing(all_s.reason);
  if (!training.measured_s.has_value() || training.steps.value.value_or(0) < 1) {
    return Measured<double>::missing("no step was measured");
  }
  return 1000 * (*all_s - *training.measured_s) / static_cast<double>(*training.steps);
}

}  // namespace

std::vector<std::string> phase_names() {
  return phases_of({}).names;
}

PageRun page_run(const Report& report, const std::string& file, std::size_t points) {
  PageRun out;
  out.facts = facts_of(report, file);
  out.step_time_ms = report.training.step_time_ms;
  out.phases_ms = phases_of(report.training.phases_ms).ms;
  out.pauses_ms = pauses_ms(report.training);
  out.gpu_busy_pct = even_series(report, "gpu_busy_pct", points);
  out.findings = report.findings;
  out.machine = machine_of(report, out.facts);
  out.batch_per_device = report.plan.micro_batch;
  return out;
}

}  // namespace falcon::analysis
