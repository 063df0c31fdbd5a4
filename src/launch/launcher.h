// One run as processes: starts a worker for each rank of the plan, watches them, ends them, and
// says what happened. Called by the cli; on its thread, which must outlive the workers.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "falconbench/plan.h"
#include "falconbench/run_hosts.h"
#include "falconbench/run_log.h"
#include "launch/messages.h"
#include "launch/signals.h"
#include "launch/watch.h"

namespace falcon::launch {

class Crew;
struct MeetingPoint;

/// Callbacks run on the calling thread, between two looks at the workers: they must be short.
struct LaunchOptions {
  std::string executable = "/proc/self/exe";  // of the workers: this very program
  std::string program_name = "falconbench";   // their argv[0]
  std::vector<std::string> extra_arguments;   // words after those of WorkerArguments
  Limits limits;
  std::optional<double> started_s;  // what plan.spec.timeout_s counts from; default: the call
  // WorkerPlan::watchdog_s. Above the launcher's own limits: those name the rank that hangs, while
  // a time limit of a collective ends the ranks that wait for it.
  double watchdog_s = 600;
  std::optional<LinkWork> links;   // what the workers measure instead of training
  SignalWatch* signals = nullptr;  // of a caller who watched before; default: an own one
  // Of a run that was started as several processes: gathered, its offers taken. Default: every rank
  // is a child of this launcher.
  Crew* crew = nullptr;

  std::function<void(int rank, pid_t pid)> on_started;                  // of ranks on this host
  std::function<void(int rank, const Progress& progress)> on_phase;     // a new phase
  std::function<void(int rank, const Progress& progress)> on_progress;  // every second
  std::function<void(int rank, double time_s)> on_measuring_began;
  std::function<void(int rank, double time_s)> on_measuring_ended;
  std::function<void(int rank, const std::string& line)> on_log;  // output of a worker
};

/// Returns when every worker has ended and was reaped. A failed or interrupted run is a result
/// (RunLog::failure), not an exception. While it runs, SIGINT and SIGTERM end the run in order and
/// a second one at once. Throws Error(kInternal) for a plan without ranks; what a callback throws
/// passes through after all workers were killed.
RunLog run(const Plan& plan, const LaunchOptions& options);

/// The part of a launcher that is not the head: starts and watches the workers of its host for the
/// head, hands everything on, and does what it is told. sight: called once, when the workers have
/// ended. Returns what the head ends with, and its reason in `message`. When the head is gone
/// or silent for alive_timeout_s, ends the workers and returns kWorker or kHang. Throws as run().
ExitCode serve(const Plan& plan, const LaunchOptions& options, MeetingPoint meeting,
               const std::function<HostSight()>& sight, std::string& message);

}  // namespace falcon::launch
