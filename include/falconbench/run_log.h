// What happened while a run was carried out, as the launcher saw it: launch::run() makes it, also
// of a run that failed; report::make() turns it into the report. Times named _s are
// CLOCK_MONOTONIC.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/records.h"
#include "falconbench/run_hosts.h"

namespace falcon {

/// Something that happened at one time, for the report's timeline and for finding a cause later.
struct RunEvent {
  double time_s = 0;
  int rank = -1;     // -1: the launcher
  std::string what;  // phase, measuring_began, measuring_ended, failure, stop_asked, signal, killed
  std::string detail;
};
template <class V>
void visit_fields(RunEvent& e, V& v) {
  v.field("time_s", e.time_s, "when, steady clock");
  v.field("rank", e.rank, "rank, -1 for the launcher");
  v.field("what", e.what, "kind of event");
  v.field("detail", e.detail, "the phase, or the reason");
}

/// WorkerEnd::ended of one that finished and whose exit code went to the program that started it.
inline constexpr const char* kDoneWithoutCode = "done; torchrun, mpirun or srun has its exit code";

/// One worker process from start to end.
struct WorkerEnd {
  int rank = 0;
  std::int64_t pid = 0;  // 0: never started
  double started_s = 0, ended_s = 0;
  std::string ended;  // "exit code 0", "killed by SIGKILL", "not started", ...
  bool ended_by_launcher = false;
  std::string phase;                  // the last one
  std::int64_t last_step = 0;         // last completed
  Measured<double> user_s, system_s;  // CPU time of the worker and the children it waited for
  Measured<std::int64_t> peak_rss_bytes;
  std::vector<std::string> last_lines;  // of its output, when it failed; the newest last
};
template <class V>
void visit_fields(WorkerEnd& w, V& v) {
  v.field("rank", w.rank, "global rank");
  v.field("pid", w.pid, "process id, 0 if it was never started");
  v.field("started_s", w.started_s, "start, steady clock");
  v.field("ended_s", w.ended_s, "end, steady clock");
  v.field("ended", w.ended, "how it ended");
  v.field("ended_by_launcher", w.ended_by_launcher, "the launcher made it end");
  v.field("phase", w.phase, "last phase");
  v.field("last_step", w.last_step, "last completed step");
  v.field("user_s", w.user_s, "CPU time in user mode");
  v.field("system_s", w.system_s, "CPU time in the kernel");
  v.field("peak_rss_bytes", w.peak_rss_bytes, "peak resident memory");
  v.field("last_lines", w.last_lines, "last lines of output of a worker that failed");
}

struct RunLog {
  std::string status = "ok";  // ok, failed or interrupted; the report may make it invalid
  int exit_code = 0;
  std::optional<RunFailure> failure;                  // also of an interrupted run
  std::vector<std::optional<WorkerRecords>> records;  // by rank
  std::vector<WorkerEnd> workers;                     // by rank
  std::string started_at, ended_at;                   // wall clock
  double started_s = 0, ended_s = 0;
  std::vector<RunEvent> events;  // in order of arrival
  double supervisor_cpu_s = 0;   // CPU time of the launcher's process while the run lasted
  std::int64_t supervisor_peak_rss_bytes = 0;
  std::vector<RunHost> hosts;  // this one first; empty for a run that one process started
};
template <class V>
void visit_fields(RunLog& l, V& v) {
  v.field("status", l.status, "ok, failed or interrupted");
  v.field("exit_code", l.exit_code, "of the program");
  v.field("failure", l.failure, "why it did not end well");
  v.field("records", l.records, "by rank, null where there are none");
  v.field("workers", l.workers, "processes by rank");
  v.field("started_at", l.started_at, "wall clock");
  v.field("ended_at", l.ended_at, "wall clock");
  v.field("started_s", l.started_s, "steady clock");
  v.field("ended_s", l.ended_s, "steady clock");
  v.field("events", l.events, "what happened when");
  v.field("supervisor_cpu_s", l.supervisor_cpu_s, "CPU time of the launcher during the run");
  v.field("supervisor_peak_rss_bytes", l.supervisor_peak_rss_bytes,
          "peak resident memory of the launcher");
  v.field("hosts", l.hosts, "of a run that was started as several processes");
}

}  // namespace falcon
