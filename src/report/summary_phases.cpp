#include "report/summary_phases.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/figures.h"

namespace falcon::report {
namespace {

constexpr std::size_t kBarColumns = 60;

/// Means of the phases by the field list; the order is that of the report.
struct PhaseMeans {
  struct Phase {
    std::string name;
    double ms;
  };
  std::vector<Phase> known;
  std::vector<std::string> missing;
  std::string reason;
  void field(const char* name, const Measured<Statistics>& phase, const char*) {
    if (!phase.has_value() || !phase.value->mean.has_value()) {
      missing.emplace_back(name);
      reason = phase.has_value() ? phase.value->mean.reason : phase.reason;
      return;
    }
    known.push_back({name, *phase.value->mean});
  }
};

/// Each phase as a run of its first letter, as long as its share of the step. Cut points are
/// rounded, not lengths, so that errors do not add up.
std::string bar(const PhaseMeans& phases, double step_ms) {
  std::string text;
  double end_ms = 0;
  for (const PhaseMeans::Phase& phase : phases.known) {
    if (phase.name == "other") continue;
    end_ms += std::max(phase.ms, 0.0);
    const auto end =
        static_cast<std::size_t>(std::lround(std::min(end_ms / step_ms, 1.0) * kBarColumns));
    const char letter = static_cast<char>(phase.name[0] - 'a' + 'A');
    if (end > text.size()) text.append(end - text.size(), letter);
  }
  return text + std::string(kBarColumns - text.size(), '.');
}

/// Smallest to largest of the GPUs' means: one number when they agree to the digit.
std::optional<std::string> range_text(const std::vector<GpuTelemetry>& gpus,
                                      const MeasuredSummary GpuTelemetry::*metric,
                                      const std::string& unit) {
  std::vector<double> means;
  for (const GpuTelemetry& gpu : gpus) {
    if (!(gpu.*metric).has_value()) return std::nullopt;
    means.push_back((*(gpu.*metric)).mean);
  }
  if (means.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  const std::string first = figure(*low);
  const std::string last = figure(*high);
  return (first == last ? first : first + " to " + last) + " " + unit;
}

std::string gpu_text(const Report& report) {
  const std::vector<GpuTelemetry>& gpus = report.utilization.gpus;
  std::string text;
  const auto append = [&text](const std::string& part) {
    text += (text.empty() ? "" : ", ") + part;
  };
  const auto busy = range_text(gpus, &GpuTelemetry::gpu_busy_pct, "% busy");
  append(busy ? *busy : "busy " + not_available(gpus.front().gpu_busy_pct.reason));
  const auto power = range_text(gpus, &GpuTelemetry::power_w, "W");
  append(power ? *power : "power " + not_available(gpus.front().power_w.reason));
  double peak_bytes = 0;
  for (const GpuTelemetry& gpu : gpus) {
    const auto bytes = static_cast<double>(gpu.memory_peak_bytes.value.value_or(0));
    peak_bytes = std::max(peak_bytes, bytes);
  }
  append(peak_bytes > 0 ? "memory peak " + bytes_text(peak_bytes)
                        : "memory " + not_available(gpus.front().memory_peak_bytes.reason));
  const Measured<double>& energy = report.training.energy_j_per_sample;
  if (energy.has_value()) append(figure(*energy) + " J a sample");
  return text;
}

std::string host_text(const HostTelemetry& host) {
  std::string text = "CPU ";
  text += host.cpu_pct.has_value() ? figure((*host.cpu_pct).mean) + " %"
                                   : not_available(host.cpu_pct.reason);
  text += ", memory ";
  text += host.memory_used_bytes.has_value() ? bytes_text((*host.memory_used_bytes).max) + " peak"
                                             : not_available(host.memory_used_bytes.reason);
  return text;
}

}  // namespace

void add_phase_lines(const Phases& phases, double step_ms, Lines& lines) {
  PhaseMeans means;
  Phases copy = phases;  // field lists take a mutable struct
  visit_fields(copy, means);
  if (means.known.empty()) {
    lines.add("phases", not_available(means.reason));
    return;
  }
  std::string text;
  for (const PhaseMeans::Phase& phase : means.known) {
    const bool is_communication = phase.name == "communication_exposed";
    text += (text.empty() ? "" : ", ") + (is_communication ? "communication" : phase.name) + " " +
            percent(phase.ms / step_ms);
  }
  lines.add("phases", text);
  lines.add("", bar(means, step_ms));
  if (means.missing.empty()) return;
  std::string missing;
  for (const std::string& name : means.missing) missing += (missing.empty() ? "" : ", ") + name;
  lines.add("", missing + " " + not_available(means.reason));
}

void add_utilization_lines(const Report& report, Lines& lines) {
  const bool has_gpu = !report.topology.gpus.empty();
  if (!report.utilization.gpus.empty()) {
    lines.add("gpu", gpu_text(report));
  } else if (has_gpu) {
    lines.add("gpu", not_available("no GPU telemetry"));
  }
  lines.add("host", host_text(report.utilization.host));
}

}  // namespace falcon::report
