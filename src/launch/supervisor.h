// The course of one run: news of the workers come in, and lead from one stage to the next. Made by
// launch::run() for one run.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "falconbench/plan.h"
#include "falconbench/run_log.h"
#include "launch/crew.h"
#include "launch/failure_cause.h"
#include "launch/fleet.h"
#include "launch/launcher.h"
#include "launch/signals.h"

namespace falcon::launch {

class Supervisor {
 public:
  /// meeting: where the ranks meet. REQUIRES: the others outlive this.
  Supervisor(const Plan& plan, const LaunchOptions& options, MeetingPoint meeting,
             SignalWatch& signals);

  /// All workers or none: after a failure the ones that run are ended by supervise().
  void start();
  /// Until no worker runs.
  void supervise();
  RunLog take_log();

 private:
  enum class Stage {
    kRunning,
    kSettling,   // something failed: a moment to see what else did, and which was first
    kFinishing,  // interrupted or out of time: rank 0 was asked to agree on a last step
    kEnding,     // all were told to end: abort, SIGTERM
    kKilled,     // SIGKILL was sent
  };
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // news
  void hear(Worker& worker);
  void obey(Worker& worker, const Message& message, double now_s);
  void obey_progress(Worker& worker, const Message& message, double now_s);
  void obey_moment(Worker& worker, const Message& message);
  void obey_records(Worker& worker, const Message& message, double now_s);
  void reap(Worker& worker);
  void read_signals(double now_s);
  void obey_signal(int signal, const std::string& where, double now_s);

  // other hosts (supervisor_hosts.cpp)
  std::vector<RemoteHost*> hosts() const;
  std::vector<pollfd> others_to_wait_for() const;
  void hear_hosts(double now_s);
  void check_hosts(double now_s);
  void lose(RemoteHost& host, const std::string& why, ExitCode code, double now_s);
  double next_host_check_s() const;
  bool is_host_quiet(const Worker& worker, double now_s) const;

  // judgement
  void check(double now_s);
  void check_watches(double now_s);
  void check_closed_channels(double now_s);
  void fail(const Worker& worker, Candidate candidate);
  Candidate hang_of(const Worker& worker, bool is_silent, double now_s) const;
  double next_wake_s() const;
  void forgive(double gap_s);

  // the way to the end
  void conclude(double now_s);
  void set_failure(const Candidate& candidate, const std::string& status);
  void finish_early(const Candidate& why, const std::string& status, double now_s);
  void end_all(const std::string& reason, double now_s);
  void advance(double now_s);
  void kill_all(double now_s);
  void event(double time_s, int rank, std::string what, std::string detail);

  const Plan& plan_;
  const LaunchOptions& options_;
  SignalWatch& signals_;
  Fleet fleet_;
  RunLog log_;
  std::vector<Candidate> candidates_;
  Stage stage_ = Stage::kRunning;
  double deadline_s_ = kNever;     // of the whole run
  double teardown_s_ = kNever;     // all records are in: the workers have until then
  double stage_until_s_ = kNever;  // what the stage waits for
  double term_s_ = kNever;         // when SIGTERM follows the abort
  double supervisor_cpu_before_s_ = 0;
};

}  // namespace falcon::launch
