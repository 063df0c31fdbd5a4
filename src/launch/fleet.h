// The workers of a run as the launcher holds them: starting, waiting for news, signalling.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

#include "falconbench/plan.h"
#include "falconbench/records.h"
#include "falconbench/run_log.h"
#include "launch/control_channel.h"
#include "launch/crew.h"
#include "launch/launcher.h"
#include "launch/output_lines.h"
#include "launch/process.h"
#include "launch/watch.h"
#include "launch/worker_process.h"

namespace falcon::launch {

struct Worker {
  int rank = 0;
  RemoteHost* host = nullptr;  // nullptr: this one
  std::unique_ptr<WorkerProcess> process;
  std::unique_ptr<Channel> channel;
  OutputLines output;
  Watch watch;
  double started_s = 0, ended_s = 0;
  bool has_said_hello = false;
  bool has_begun_measuring = false;
  bool has_reported_failure = false;
  bool is_done = false;         // it said so, after tear-down
  bool is_told_to_end = false;  // by an abort or a signal of ours
  std::optional<double> channel_closed_s;
  std::optional<WorkerRecords> records;
};

class Fleet {
 public:
  /// meeting: where the ranks meet; taken over.
  Fleet(const Plan& plan, const LaunchOptions& options, MeetingPoint meeting)
      : plan_(plan), options_(options), meeting_(std::move(meeting)) {}

  /// Starts that rank as a child, or lets the process that joined for it become the worker, or
  /// takes it that its host does so. Hands it its plan. Throws Error(kHost).
  void start(int rank);
  /// Waits until a worker or one of `others` has something to say, at most until then. Infinity: no
  /// limit.
  void wait(double until_s, std::span<const pollfd> others);

  std::vector<Worker>& workers() { return workers_; }
  const std::vector<Worker>& workers() const { return workers_; }
  /// REQUIRES: it was started.
  Worker& of_rank(int rank);
  bool is_any_running() const;
  bool has_all_records() const;

  /// To all that run. They are then expected to end.
  void order_end(const std::string& reason);
  void signal_all(int signal);

 private:
  Worker& add(int rank, RemoteHost* host, std::unique_ptr<WorkerProcess> process,
              std::unique_ptr<Channel> channel, Descriptor output);
  void start_child(int rank);
  void start_joined(int rank, Joined& joined);
  WorkerPlan worker_plan(int rank) const;
  ProcessStart process_start(int rank) const;
  std::vector<std::string> environment_of(int rank) const;

  const Plan& plan_;
  const LaunchOptions& options_;
  MeetingPoint meeting_;  // its socket is closed once rank 0 has it
  std::vector<Worker> workers_;
};

/// What a worker that has ended said last is still in its socket and pipe: hears it, and closes
/// both.
template <class Hear>
void hear_the_rest(Worker& worker, const Hear& hear) {
  std::size_t bytes_before = 0;
  do {
    bytes_before = worker.channel->bytes_read();
    hear(worker);
  } while (worker.channel->bytes_read() != bytes_before);
  worker.channel->close();
  worker.output.finish();
}

/// What is left to say of a worker at the end.
WorkerEnd end_of(const Worker& worker, bool with_lines);

}  // namespace falcon::launch
