#include "report/make.h"

#include <algorithm>
#include <cmath>

#include "base/revision.h"
#include "base/text.h"
#include "report/evidence.h"
#include "report/findings.h"
#include "report/others.h"
#include "report/places.h"
#include "report/step_series.h"
#include "report/trace.h"
#include "report/training.h"

namespace falcon::report {
namespace {

RunSection make_run(const Plan& plan, const Host& host, const RunLog& log,
                    const Circumstances& circumstances) {
  RunSection run;
  run.id = plan.run_id;
  run.name = plan.spec.name;
  run.status = log.status;
  run.exit_code = log.exit_code;
  run.started_at = log.started_at;
  run.ended_at = log.ended_at;
  run.duration_s = log.ended_s - log.started_s;
  run.command_line = circumstances.command_line;
  run.spec_hash = plan.spec_hash;
  run.hostname = host.hostname;
  run.hosts = log.hosts;
  run.launcher_cpu_s = log.supervisor_cpu_s;
  run.launcher_peak_rss_bytes = log.supervisor_peak_rss_bytes > 0
                                    ? Measured<std::int64_t>(log.supervisor_peak_rss_bytes)
                                    : Measured<std::int64_t>::missing("not measured");
  for (const RunEvent& event : log.events) {
    run.timeline.push_back(
        {event.time_s - log.started_s,
         event.rank >= 0 ? Measured<int>(event.rank) : Measured<int>::missing("the launcher"),
         event.what, event.detail});
  }
  return run;
}

Measured<ReportError> make_error(const RunLog& log) {
  if (!log.failure) {
    return Measured<ReportError>::missing(log.status == "ok" ? "the run ended well"
                                                             : "no cause was recorded");
  }
  const RunFailure& failure = *log.failure;
  ReportError error;
  error.kind = failure.kind;
  error.message = failure.message;
  error.host = failure.host;
  error.device = failure.device;
  error.phase = failure.phase;
  if (failure.rank >= 0) {
    error.rank = failure.rank;
    error.last_step = failure.last_step;
  } else {
    error.rank = Measured<int>::missing("no single rank");
    error.last_step = Measured<std::int64_t>::missing("no single rank");
  }
  return error;
}

/// Energy is known per board; samples per rank, which may hold several boards.
void add_energy_per_sample(const Evidence& evidence, Report& report) {
  double energy_j = 0;
  Measured<double>& total = report.training.energy_j_per_sample;
  total = Measured<double>::missing(report.topology.gpus.empty() ? "no GPU computed"
                                                                 : "no GPU telemetry");
  for (GpuTelemetry& gpu : report.utilization.gpus) {
    gpu.energy_j_per_sample = Measured<double>::missing("no rank computed on this GPU");
    for (const RankPlan& rank : evidence.plan.ranks) {
      const bool is_used =
          std::any_of(rank.devices.begin(), rank.devices.end(),
                      [&gpu](const DevicePlan& device) { return device.uuid == gpu.uuid; });
      if (!is_used) continue;
      const WorkerRecords* records = evidence.of_rank(rank.rank);
      const double samples =
          records == nullptr
              ? 0
              : static_cast<double>(records->measured_steps * evidence.plan.batch_per_rank) /
                    static_cast<double>(rank.devices.size());
      gpu.energy_j_per_sample = gpu.energy_j;
      if (gpu.energy_j.has_value()) {
        gpu.energy_j_per_sample = samples > 0 ? Measured<double>(*gpu.energy_j / samples)
                                              : Measured<double>::missing("no steps were measured");
      }
    }
    energy_j += gpu.energy_j.value.value_or(std::nan(""));
    total = gpu.energy_j;
  }
  if (report.utilization.gpus.empty()) return;
  const std::int64_t samples = report.training.samples.value.value_or(0);
  if (samples == 0) {
    total = Measured<double>::missing("no steps were measured");
  } else if (std::isfinite(energy_j)) {
    total = energy_j / static_cast<double>(samples);
  } else {
    total = Measured<double>::missing("the energy of a GPU is missing");
  }
}

std::string hundredths(double number) {
  return base::number_text(std::round(number * 100) / 100);
}

/// "Gen5 x16", means over the window.
void add_links_under_load(Report& report) {
  for (TopologyGpu& gpu : report.topology.gpus) {
    gpu.link_under_load = Measured<std::string>::missing("no telemetry of this GPU");
    for (const GpuTelemetry& seen : report.utilization.gpus) {
      if (seen.uuid != gpu.uuid) continue;
      const GpuLinkTelemetry& link = seen.pcie_link;
      gpu.link_under_load = Measured<std::string>::missing(
          link.generation.has_value() ? link.width.reason : link.generation.reason);
      if (!link.generation.has_value() || !link.width.has_value()) continue;
      gpu.link_under_load = "Gen" + hundredths(link.generation.value->mean) + " x" +
                            hundredths(link.width.value->mean);
    }
  }
}

void add_findings(const Evidence& evidence, Report& report) {
  report.findings = evidence.plan.findings;
  const std::vector<Finding> observed = make_findings({report, evidence});
  for (const Finding& finding : observed) {
    const bool is_planned = std::any_of(
        report.findings.begin(), report.findings.end(), [&finding](const Finding& other) {
          return other.id == finding.id && other.message == finding.message;
        });
    if (!is_planned) report.findings.push_back(finding);
  }
  const bool is_invalid =
      std::any_of(report.findings.begin(), report.findings.end(),
                  [](const Finding& finding) { return finding.severity == "invalid"; });
  if (!is_invalid || report.run.status != "ok") return;
  // What was to be emulated and was not is no figure at all; other doubts are the reader's.
  const bool is_void =
      std::any_of(report.findings.begin(), report.findings.end(),
                  [](const Finding& finding) { return finding.id == "emulation_failed"; });
  if (report.spec.strict || is_void) report.run.status = "invalid";
  if (report.spec.strict) report.run.exit_code = static_cast<int>(ExitCode::kInvalid);
}

}  // namespace

Report make(const Plan& plan, const Host& host, const RunLog& log, const Telemetry& telemetry,
            const Circumstances& circumstances) {
  const Evidence evidence(plan, log);
  Report report;
  report.tool = {"falconbench", base::version(), base::revision()};
  report.run = make_run(plan, host, log, circumstances);
  report.spec = plan.spec;
  report.spec_origin = plan.spec_origin;
  static_cast<Plan&>(report.plan) = plan;
  static_cast<Host&>(report.system) = host;
  report.topology = make_topology(evidence);
  report.training = make_training(evidence, circumstances.model, circumstances.precision);
  report.training.trace = make_trace(evidence, circumstances.trace_file);
  report.ranks = make_ranks(evidence);
  report.utilization = telemetry.utilization;
  report.series = telemetry.series;
  if (plan.spec.telemetry.series && !evidence.steps_ms.empty()) {
    const double zero_s = telemetry.began_s > 0 ? telemetry.began_s : log.started_s;
    report.series["run/step_time_ms"] = make_step_series(evidence, zero_s);
  }
  static_cast<StorageFigures&>(report.storage) =
      make_storage(evidence, {host.hostname, telemetry.utilization, circumstances.storage});
  add_others(circumstances.others, evidence, telemetry.began_s, report);
  report.error = make_error(log);
  add_energy_per_sample(evidence, report);
  add_links_under_load(report);
  add_findings(evidence, report);
  return report;
}

ExitCode exit_code(const Report& report) {
  return static_cast<ExitCode>(report.run.exit_code);
}

}  // namespace falcon::report
