#include "report/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/figures.h"
#include "report/summary_lines.h"
#include "report/summary_phases.h"

namespace falcon::report {
namespace {

constexpr std::size_t kMaxFindings = 5;

std::string show(const Measured<double>& value, const std::string& unit = "") {
  if (!value.has_value()) return not_available(value.reason);
  return figure(*value) + (unit.empty() ? "" : " " + unit);
}

void add_status(const Report& report, Lines& lines) {
  const RunSection& run = report.run;
  std::string text = run.name.empty() ? run.id : run.name;
  if (run.exit_code != 0) text += ", exit code " + std::to_string(run.exit_code);
  const bool is_invalid =
      std::any_of(report.findings.begin(), report.findings.end(),
                  [](const Finding& finding) { return finding.severity == "invalid"; });
  if (is_invalid && run.status == "ok") text += ", measurement invalid (see below)";
  lines.add_status(run.status, text + ", " + figure(run.duration_s) + " s in all");
  if (!report.error.has_value()) return;
  const ReportError& error = *report.error;
  std::string where = error.rank.has_value() ? "rank " + std::to_string(*error.rank) : "launcher";
  if (!error.device.empty()) where += " on " + error.device;
  if (!error.phase.empty()) where += ", " + error.phase;
  if (error.last_step.has_value()) where += ", last step " + std::to_string(*error.last_step);
  lines.add("error", error.kind + " (" + where + "): " + error.message);
}

std::string devices_text(const Report& report) {
  std::map<std::string, int> count_by_name;
  for (const RankReport& rank : report.ranks) {
    for (const DevicePlan& device : rank.devices) ++count_by_name[device.name];
  }
  std::string text;
  for (const auto& [name, count] : count_by_name) {
    text += (text.empty() ? "" : " + ") + std::to_string(count) + " x " + name;
  }
  return text.empty() ? "none" : text;
}

void add_request(const Report& report, Lines& lines) {
  const RunSpec& spec = report.spec;
  std::string model = spec.model;
  if (spec.image_size) model += ", " + std::to_string(*spec.image_size) + " pixels";
  if (spec.sequence_length) model += ", " + std::to_string(*spec.sequence_length) + " tokens";
  if (report.training.model.parameters.has_value()) {
    model +=
        ", " + count_text(static_cast<double>(*report.training.model.parameters)) + " parameters";
  }
  lines.add("model", model + ", data " + spec.data.format);
  if (report.plan.ranks.empty()) return;  // not planned: nothing else was decided
  const std::string& topology = spec.topology.name.empty() ? "a list" : spec.topology.name;
  const std::string emulated = report.topology.emulated ? "emulated, " : "";
  lines.add("devices", devices_text(report) + ", topology " + topology + " (" + emulated +
                           report.topology.verdict + "), " + report.plan.parallelism +
                           (report.plan.backend == "none" ? "" : " over " + report.plan.backend));
  lines.add("precision", spec.precision.value_or("default") + ", batch " +
                             (spec.accumulate > 1 ? std::to_string(spec.accumulate) + " x " : "") +
                             std::to_string(report.plan.micro_batch) + " a device, " +
                             std::to_string(report.plan.global_batch) + " in all");
}

void add_speed(const Report& report, Lines& lines) {
  const Training& training = report.training;
  if (training.measured_s.has_value()) {
    lines.add("measured", std::to_string(training.step_time_ms.count) + " steps, " +
                              std::to_string(training.samples.value.value_or(0)) + " samples in " +
                              figure(*training.measured_s) + " s, after " +
                              std::to_string(training.warmup_steps.value.value_or(0)) +
                              " warm-up steps");
  } else {
    lines.add("measured", not_available(training.measured_s.reason));
    return;
  }
  const Throughput& speed = training.throughput;
  std::string text = show(speed.samples_per_s, "samples/s");
  if (speed.samples_per_s.has_value()) {
    text += speed.ci95.has_value() ? " +- " + figure(*speed.ci95) + " (95 %)" : "";
    text += ", " + show(speed.per_gpu) + " a device";
  }
  if (training.model.mfu.has_value()) text += ", MFU " + percent(*training.model.mfu);
  lines.add("throughput", text);
  const Statistics& step = training.step_time_ms;
  lines.add("step", "p50 " + show(step.p50, "ms") + ", p95 " + show(step.p95, "ms") + ", mean " +
                        show(step.mean, "ms"));
  if (step.mean.has_value() && *step.mean > 0) {
    add_phase_lines(training.phases_ms, *step.mean, lines);
  }
}

void add_input(const Report& report, Lines& lines) {
  const Measured<double>& capacity = report.training.input.capacity_samples_per_s;
  const Measured<double>& speed = report.training.throughput.samples_per_s;
  std::string text = show(capacity, "samples/s");
  if (capacity.has_value() && speed.has_value() && *speed > 0) {
    text += ", " + figure(*capacity / *speed) + " times what training took";
  }
  lines.add("loader", text);
}

std::string trial_text(const ReadTrial& trial) {
  return bytes_text(trial.bytes_per_s) + "/s";
}

/// " on host A; others: 2 cold, 1 unknown"
std::string other_storages_text(const Report& report) {
  if (report.storage.hosts.empty()) return "";
  std::map<std::string, int> states;
  for (const HostStorage& other : report.storage.hosts) {
    ++states[other.state.value.value_or("unknown")];
  }
  std::vector<std::string> parts;
  for (const auto& [state, count] : states) parts.push_back(std::to_string(count) + " " + state);
  return " on host " + report.run.hostname + "; others: " + base::join(parts, ", ");
}

void add_storage(const Report& report, Lines& lines) {
  const Storage& storage = report.storage;
  if (!storage.data.has_value()) return;
  std::string text = report.spec.storage.empty() ? "" : report.spec.storage + ", ";
  text += storage.data.value->device.value.value_or("an unknown device") + ", " +
          storage.io.value.value_or("not read");
  if (storage.state.has_value()) {
    text +=
        ", " + *storage.state + " (" + percent(*storage.from_storage_pct / 100) + " from storage)";
  }
  if (storage.probe.has_value()) {
    text += ", probe " + trial_text(storage.probe.value->sequential) + " one reader, " +
            trial_text(storage.probe.value->random) + " as " +
            std::to_string(storage.probe.value->random.threads) + " loaders";
  }
  lines.add("storage", text + other_storages_text(report));
}

void add_loss(const Report& report, Lines& lines) {
  const Loss& loss = report.training.loss;
  if (!loss.first.has_value() && loss.series.empty()) {
    return lines.add("loss", not_available(loss.first.reason));
  }
  lines.add("loss", show(loss.first) + " -> " + show(loss.last));
}

void add_learned(const Report& report, Lines& lines) {
  const Training& training = report.training;
  if (report.spec.evaluate) {
    std::string text;
    if (training.accuracy.has_value()) {
      for (const auto& [measure, value] : *training.accuracy) {
        text += (text.empty() ? "" : ", ") + measure + " " + figure(value);
      }
    }
    lines.add("accuracy",
              training.accuracy.has_value() ? text : not_available(training.accuracy.reason));
  }
  if (training.checkpoints.empty()) return;
  double time_s = 0;
  for (const Checkpoint& checkpoint : training.checkpoints) time_s += checkpoint.time_s;
  lines.add("checkpoints",
            std::to_string(training.checkpoints.size()) + " in " + figure(time_s) +
                " s, the last of " +
                figure(static_cast<double>(training.checkpoints.back().bytes) / 1e6) + " MB");
}

void add_findings(const Report& report, Lines& lines) {
  std::vector<const Finding*> shown;
  for (const char* severity : {"invalid", "warning"}) {
    for (const Finding& finding : report.findings) {
      if (finding.severity == severity) shown.push_back(&finding);
    }
  }
  const std::size_t count = std::min(shown.size(), kMaxFindings);
  for (std::size_t i = 0; i < count; ++i) {
    const Finding& finding = *shown[i];
    lines.add_finding(finding.severity,
                      finding.id + ": " + finding.message + " (" + finding.evidence + ")");
  }
  const std::size_t rest = report.findings.size() - count;
  if (rest > 0) lines.add("findings", std::to_string(rest) + " more in the report");
}

}  // namespace

std::string summary(const Report& report, const std::string& path, bool use_colour) {
  Lines lines(use_colour);
  if (report.topology.emulated) {
    lines.add_status("EMULATED", "no chassis: falcon_link " + *report.spec.emulate.falcon_link +
                                     " is imposed on GPUs of the host");
  }
  add_status(report, lines);
  add_request(report, lines);
  add_speed(report, lines);
  add_utilization_lines(report, lines);
  add_input(report, lines);
  add_storage(report, lines);
  add_loss(report, lines);
  add_learned(report, lines);
  add_findings(report, lines);
  if (report.training.trace.has_value()) lines.add("trace", (*report.training.trace).file);
  lines.add("report", path);
  return lines.take();
}

}  // namespace falcon::report
