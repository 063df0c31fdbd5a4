#include <cmath>
#include <cstdint>

#include "analysis/export/exporters.h"
#include "analysis/export/wall_time.h"
#include "base/json.h"
#include "base/value.h"
#include "report/writable.h"

namespace falcon::analysis {
namespace {

class Log {
 public:
  explicit Log(const NamedReport& named)
      : file_(named.file), start_s_(wall_time_s(named.report.run.started_at)) {}

  bool has_clock() const { return start_s_.has_value(); }
  void point(double t_s, const char* key, base::Value value) {
    add(t_s, "POINT_IN_TIME", key, std::move(value), base::Value::object());
  }
  void start(double t_s, const char* key, base::Value metadata = base::Value::object()) {
    add(t_s, "INTERVAL_START", key, {}, std::move(metadata));
  }
  void stop(double t_s, const char* key, base::Value metadata = base::Value::object()) {
    add(t_s, "INTERVAL_END", key, {}, std::move(metadata));
  }
  std::string take() { return std::move(out_); }

 private:
  void add(double t_s, const char* type, const char* key, base::Value value, base::Value metadata) {
    metadata.set("file", file_);
    metadata.set("lineno", 0);
    base::Value line = base::Value::object();
    line.set("namespace", "");
    line.set("time_ms", static_cast<std::int64_t>(std::llround((*start_s_ + t_s) * 1000)));
    line.set("event_type", type);
    line.set("key", key);
    line.set("value", std::move(value));
    line.set("metadata", std::move(metadata));
    out_ += ":::MLLOG " + base::to_json(report::writable(line)) + "\n";
  }

  std::string file_;
  std::optional<double> start_s_;
  std::string out_;
};

/// First or last time of an event of any rank.
std::optional<double> event_s(const RunSection& run, const std::string& what, bool last) {
  std::optional<double> found;
  for (const TimelineEvent& event : run.timeline) {
    if (event.what != what) continue;
    if (!found || (last ? event.t_s > *found : event.t_s < *found)) found = event.t_s;
  }
  return found;
}

void add_settings(const Report& report, Log& log) {
  const RunSpec& spec = report.spec;
  log.point(0, "submission_benchmark", spec.model);
  log.point(0, "global_batch_size", report.plan.global_batch);
  log.point(0, "gradient_accumulation_steps", spec.accumulate);
  log.point(0, "seed", spec.seed);
  log.point(0, "train_samples", report.plan.data.samples);
  if (spec.optimizer.kind) log.point(0, "opt_name", *spec.optimizer.kind);
  if (spec.optimizer.lr) log.point(0, "opt_base_learning_rate", *spec.optimizer.lr);
  if (spec.sequence_length) log.point(0, "max_sequence_length", *spec.sequence_length);
}

/// Passes are laid end to end from the begin of the measurement, as they were measured.
double add_epochs(const Training& training, double begin_s, Log& log) {
  double t_s = begin_s;
  for (const Epoch& epoch : training.epochs) {
    base::Value metadata = base::Value::object();
    metadata.set("epoch_num", epoch.epoch);
    log.start(t_s, "epoch_start", metadata);
    t_s += epoch.time_s;
    log.stop(t_s, "epoch_stop", metadata);
    if (epoch.samples_per_s.has_value()) {
      base::Value stats = base::Value::object();
      stats.set("throughput", *epoch.samples_per_s);
      log.point(t_s, "tracked_stats", stats);
    }
  }
  return t_s;
}

void add_run(const Report& report, Log& log) {
  const std::optional<double> begin_s = event_s(report.run, "measuring_began", false);
  log.start(0, "init_start");
  if (!begin_s) return;
  log.stop(*begin_s, "init_stop");
  log.start(*begin_s, "run_start");
  const double epochs_end_s = add_epochs(report.training, *begin_s, log);
  const double end_s = event_s(report.run, "measuring_ended", true).value_or(epochs_end_s);
  if (report.training.accuracy.has_value()) {
    for (const auto& [measure, value] : *report.training.accuracy) {
      base::Value metadata = base::Value::object();
      metadata.set("measure", measure);
      log.start(end_s, "eval_start", metadata);
      log.point(end_s, "eval_accuracy", value);
      log.stop(end_s, "eval_stop", metadata);
    }
  }
  base::Value metadata = base::Value::object();
  metadata.set("status", report.run.status == "ok" ? "success" : "aborted");
  log.stop(end_s, "run_stop", metadata);
}

}  // namespace

ExportFiles mlperf_log(const Reports& reports) {
  std::string text;
  for (const NamedReport& named : reports) {
    Log log(named);
    if (!log.has_clock()) continue;
    add_settings(named.report, log);
    add_run(named.report, log);
    text += log.take();
  }
  return {{"", text}};
}

}  // namespace falcon::analysis
