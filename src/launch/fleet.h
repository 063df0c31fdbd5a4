// The workers of a run as the launcher holds them: starting, waiting for news, signalling.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "falconbench/plan.h"
#include "falconbench/records.h"
#include "falconbench/run_log.h"
#include "launch/control_channel.h"
#include "launch/launcher.h"
#include "launch/output_lines.h"
#include "launch/process.h"
#include "launch/watch.h"

namespace falcon::launch {

struct Worker {
  int rank = 0;
  Process process;
  ControlChannel channel;
  OutputLines output;
  Watch watch;
  double started_s = 0, ended_s = 0;
  bool has_said_hello = false;
  bool has_begun_measuring = false;
  bool has_reported_failure = false;
  bool is_told_to_end = false;  // by an abort or a signal of ours
  std::optional<double> channel_closed_s;
  std::optional<WorkerRecords> records;
};

class Fleet {
 public:
  Fleet(const Plan& plan, const LaunchOptions& options) : plan_(plan), options_(options) {}

  /// Starts the next rank and hands it its plan. Throws Error(kHost).
  void start_next();
  /// Waits until a worker or other_fd has something to say, at most until then. Infinity: no limit.
  void wait(double until_s, int other_fd);

  std::vector<Worker>& workers() { return workers_; }
  const std::vector<Worker>& workers() const { return workers_; }
  Worker& of_rank(int rank) { return workers_.at(static_cast<std::size_t>(rank)); }
  bool is_any_running() const;
  bool has_all_records() const;

  /// To all that run. They are then expected to end.
  void order_end(const std::string& reason);
  void signal_all(int signal);

 private:
  WorkerPlan worker_plan(int rank) const;
  ProcessStart process_start(int rank) const;

  const Plan& plan_;
  const LaunchOptions& options_;
  std::optional<Rendezvous> rendezvous_;  // its socket is closed once rank 0 has it
  std::vector<Worker> workers_;
};

/// What is left to say of a worker at the end.
WorkerEnd end_of(const Worker& worker, bool with_lines);

}  // namespace falcon::launch
