// The worker's end of its control channel: the plan comes in, phases, signs of life, records and
// failures go out. The cli makes it before Torch is loaded: from then on the launcher can tell a
// slow start from a dead one. The engine library is built from the same sources and is handed it.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "falconbench/errors.h"
#include "falconbench/plan.h"
#include "falconbench/records.h"
#include "launch/descriptor.h"
#include "launch/frames.h"
#include "launch/messages.h"

namespace falcon::launch {

/// All functions may be called from any thread and throw Error(kWorker) when the launcher is gone.
/// A thread of its own sends a sign of life every second and ends the process when the launcher
/// closes the channel or orders it.
class WorkerChannel {
 public:
  /// Says hello, waits for the plan. Takes over control_fd. Throws Error(kWorker) when the launcher
  /// speaks another version or is gone. `alive_interval_s`: tests are faster.
  explicit WorkerChannel(int control_fd, double alive_interval_s = 1);
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;
  /// Stops the thread and closes the channel.
  ~WorkerChannel();

  const WorkerPlan& plan() const { return plan_; }

  /// load, connect, build, warm_up, capture, measure, checkpoint, evaluate, save, finish,
  /// tear_down. While the phase is `measure` the launcher expects steps at the pace of the run; in
  /// all others something within minutes.
  void set_phase(const std::string& phase);

  /// The last completed step of the run, warm-up included, counted from 1. Cheap: one store.
  void set_step(std::int64_t step) { own_step_.store(step, std::memory_order_relaxed); }
  /// Reads the step from this memory instead (pinned memory that the GPU writes); nullptr: back to
  /// set_step(). REQUIRES: withdrawn before the memory is freed.
  void read_step_from(const volatile std::int64_t* counter);

  /// Something got done where there are no steps, so that the launcher does not take it for a hang.
  void count_work() { work_.fetch_add(1, std::memory_order_relaxed); }

  /// The measured window, for telemetry. Steady clock.
  void measuring_began(double time_s);
  void measuring_ended(double time_s);

  /// The launcher asks this rank to publish a last step soon. Checked by rank 0 once a step.
  bool stop_requested() const { return stop_requested_.load(std::memory_order_relaxed); }

  /// Everything that was measured; before tear-down, which then may hang without harm.
  void send_records(const WorkerRecords& records);
  /// kind as in RunFailure. Rank, phase and last step are filled in. code: kHost, kHang or kWorker.
  void send_failure(const std::string& kind, const std::string& message,
                    ExitCode code = ExitCode::kWorker);
  /// The last message, after tear-down.
  void done();

 private:
  void receive_plan();
  void send(const std::string& frame);
  bool send_locked(const std::string& frame);
  bool send_alive();
  Progress progress();
  void control_loop(double alive_interval_s);
  bool receive_orders();
  bool obey_orders();
  [[noreturn]] static void end_process();

  Descriptor socket_;
  Descriptor wake_;  // eventfd: the destructor wakes the thread
  FrameReader frames_;
  WorkerPlan plan_;
  std::mutex send_mutex_;   // frames of two threads must not mix
  std::mutex state_mutex_;  // phase_, counter_
  std::string phase_ = "start";
  const volatile std::int64_t* counter_ = nullptr;
  std::atomic<std::int64_t> own_step_{0};
  std::atomic<std::int64_t> work_{0};
  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> is_closing_{false};
  std::thread control_thread_;  // last: the rest is there when it starts
};

}  // namespace falcon::launch
