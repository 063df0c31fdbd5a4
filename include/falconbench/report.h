// The report of one run, written as JSON (schemas/report.schema.json is made from these lists).
// report::make() fills it, pure; the top-level names are fixed. A null has its reason beside it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/finding.h"
#include "falconbench/host.h"
#include "falconbench/measured.h"
#include "falconbench/plan.h"
#include "falconbench/report_places.h"
#include "falconbench/report_storage.h"
#include "falconbench/report_training.h"
#include "falconbench/run_hosts.h"
#include "falconbench/run_spec.h"
#include "falconbench/telemetry.h"

namespace falcon {

struct Tool {
  std::string name, version, revision;
};
template <class V>
void visit_fields(Tool& t, V& v) {
  v.field("name", t.name, "falconbench");
  v.field("version", t.version, "its version");
  v.field("revision", t.revision, "git revision it was built from");
}

/// t_s counts from the start of the run.
struct TimelineEvent {
  double t_s = 0;
  Measured<int> rank;
  std::string what, detail;
};
template <class V>
void visit_fields(TimelineEvent& e, V& v) {
  v.field("t_s", e.t_s, "when, from the start of the run");
  v.field("rank", e.rank, "rank it concerns");
  v.field("what", e.what, "kind of event");
  v.field("detail", e.detail, "the phase, or the reason");
}

struct RunSection {
  std::string id, name, status;
  int exit_code = 0;
  std::string started_at, ended_at;
  double duration_s = 0;
  std::vector<std::string> command_line;
  std::string spec_hash, hostname;
  std::vector<RunHost> hosts;
  double launcher_cpu_s = 0;
  Measured<std::int64_t> launcher_peak_rss_bytes;
  std::vector<TimelineEvent> timeline;
};
template <class V>
void visit_fields(RunSection& r, V& v) {
  v.field("id", r.id, "unique");
  v.field("name", r.name, "as the spec says");
  v.field("status", r.status, "ok, failed, invalid or interrupted");
  v.field("exit_code", r.exit_code, "of the program");
  v.field("started_at", r.started_at, "wall clock, UTC");
  v.field("ended_at", r.ended_at, "wall clock, UTC");
  v.field("duration_s", r.duration_s, "from start to end, steady clock");
  v.field("command_line", r.command_line, "as the program was called");
  v.field("spec_hash", r.spec_hash,
          "SHA-256 of the resolved spec without name, output, timeout_s, telemetry");
  v.field("hostname", r.hostname, "host of the launcher");
  v.field("hosts", r.hosts,
          "hosts of a run that torchrun, mpirun or srun started, that of rank 0 first");
  v.field("launcher_cpu_s", r.launcher_cpu_s, "CPU time of the launcher");
  v.field("launcher_peak_rss_bytes", r.launcher_peak_rss_bytes, "peak memory of the launcher");
  v.field("timeline", r.timeline, "what happened when");
}

struct ReportError {
  std::string kind, message;
  Measured<int> rank;
  std::string host, device, phase;
  Measured<std::int64_t> last_step;
};
template <class V>
void visit_fields(ReportError& e, V& v) {
  v.field("kind", e.kind, "what happened, one word");
  v.field("message", e.message, "in words");
  v.field("rank", e.rank, "rank it happened on");
  v.field("host", e.host, "host it happened on");
  v.field("device", e.device, "device of that rank");
  v.field("phase", e.phase, "what the rank was doing");
  v.field("last_step", e.last_step, "last step that rank completed");
}

/// A plan without what stands elsewhere in the report (spec, origin, hash, id, findings).
struct ReportPlan : Plan {};
template <class V>
void visit_fields(ReportPlan& p, V& v) {
  visit_decisions(p, v);
}

struct Report {
  int schema_version = 1;
  Tool tool;
  RunSection run;
  RunSpec spec;
  std::map<std::string, std::string> spec_origin;
  ReportPlan plan;
  ReportSystem system;
  Topology topology;
  Training training;
  std::vector<RankReport> ranks;
  Utilization utilization;
  std::map<std::string, Series> series;
  Storage storage;
  std::vector<Finding> findings;
  Measured<ReportError> error;
};
template <class V>
void visit_fields(Report& r, V& v) {
  v.field("schema_version", r.schema_version, "1: grows by new fields only");
  v.field("tool", r.tool, "what made this report");
  v.field("run", r.run, "the run and how it ended");
  v.field("spec", r.spec, "the resolved spec: repeats the run");
  v.field("spec_origin", r.spec_origin, "key -> where its value came from");
  v.field("plan", r.plan, "what was decided from spec and host");
  v.field("system", r.system, "the machine");
  v.field("topology", r.topology, "GPUs asked for and seen");
  v.field("training", r.training, "speed, time and loss");
  v.field("ranks", r.ranks, "each worker");
  v.field("utilization", r.utilization, "how busy GPUs and host were while measuring");
  v.field("series", r.series, "readings over time, columnar");
  v.field("storage", r.storage, "what the data lies on");
  v.field("findings", r.findings, "what is worth knowing");
  v.field("error", r.error, "why the run did not end well");
}

}  // namespace falcon
