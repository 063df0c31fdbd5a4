#include <algorithm>
#include <cmath>

#include "analysis/export/event_file.h"
#include "analysis/export/exporters.h"
#include "analysis/export/wall_time.h"

namespace falcon::analysis {
namespace {

void add_loss(const Training& training, double start_s, EventFile& out) {
  const Loss& loss = training.loss;
  for (std::size_t i = 0; i < loss.series.size(); ++i) {
    if (!loss.series[i]) continue;
    const auto step = static_cast<std::int64_t>(i) * loss.steps_per_point;
    out.add_scalar("train/loss", start_s, step, *loss.series[i]);
  }
}

/// Readings have times, not steps: the step is the number of the reading.
void add_series(const Report& report, double start_s, EventFile& out) {
  for (const auto& [name, series] : report.series) {
    const std::size_t count = std::min(series.t_s.size(), series.values.size());
    for (std::size_t i = 0; i < count; ++i) {
      out.add_scalar(name, start_s + series.t_s[i], static_cast<std::int64_t>(i), series.values[i]);
    }
  }
}

std::string folder_name(const std::string& id) {
  std::string name;
  for (const char c : id) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                          (c >= 'a' && c <= 'z') || c == '-' || c == '_';
    name += is_plain ? c : '_';
  }
  return name.empty() ? "run" : name;
}

}  // namespace

ExportFiles tensorboard_events(const Reports& reports) {
  ExportFiles files;
  for (const NamedReport& named : reports) {
    const Report& report = named.report;
    const double start_s = wall_time_s(report.run.started_at).value_or(0);
    EventFile out(start_s);
    add_loss(report.training, start_s, out);
    add_series(report, start_s, out);
    const Measured<double>& rate = report.training.throughput.samples_per_s;
    if (rate.has_value()) out.add_scalar("train/samples_per_s", start_s, 0, *rate);
    const auto seconds = static_cast<std::int64_t>(std::floor(start_s));
    std::string folder = folder_name(report.run.id);
    const std::string file = "/events.out.tfevents." + std::to_string(seconds) + ".falconbench";
    while (files.contains(folder + file)) folder += "_";
    files[folder + file] = out.take();
  }
  return files;
}

}  // namespace falcon::analysis
