// Is a worker alive, and is it getting on? Pure: told what was heard and when, asked for a verdict.
#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <string>

namespace falcon::launch {

/// Time limits of a run, seconds.
struct Limits {
  double alive_timeout_s = 10;     // without any byte from a worker that has once spoken
  double setup_timeout_s = 300;    // without a new phase or step, outside of the measured window
  double progress_min_s = 60;      // without a step in the measured window: this ...
  double progress_factor = 20;     // ... or this many times the median step, if that is longer
  double settle_s = 0.3;           // after a failure: others that failed at once may be the cause
  double finish_grace_s = 10;      // after an interrupt or timeout_s: time to reach a common step
  double teardown_timeout_s = 30;  // all records are in: time to end
  double stop_grace_s = 5;         // from the first failure to the end of the last worker
};

class Watch {
 public:
  enum class Verdict {
    kFine,
    kSilent,  // no sign of life: stopped, or deadlocked in the kernel
    kStuck,   // alive, but nothing gets done
  };

  Watch(const Limits& limits, double now_s) : limits_(limits), heard_s_(now_s), moved_s_(now_s) {}

  /// Any byte.
  void heard(double now_s);
  void phase(const std::string& phase, double now_s);
  /// The step counter as last reported by the worker, at its own time.
  void step(std::int64_t step, double at_s, double now_s);
  /// The same of a counter that rises where there are no steps (evaluation, checkpoints).
  void work(std::int64_t work, double now_s);
  /// Its results are in: only the tear-down limit, which is not this one's, is left.
  void finished() { is_finished_ = true; }
  /// The watcher itself did not run for so long (stopped, machine overloaded): nobody's fault.
  void forgive(double gap_s);

  Verdict verdict(double now_s) const;
  /// When the verdict may change if nothing is heard.
  double next_check_s() const;

  const std::string& current_phase() const { return phase_; }
  std::int64_t last_step() const { return step_; }
  double silent_s(double now_s) const { return now_s - heard_s_; }
  double unmoved_s(double now_s) const { return now_s - moved_s_; }
  double moved_at_s() const { return moved_s_; }
  /// The limit that holds for unmoved_s() in this phase.
  double progress_limit_s() const;

 private:
  double median_step_s() const;

  Limits limits_;
  double heard_s_, moved_s_;
  bool has_spoken_ = false;
  bool is_finished_ = false;
  std::string phase_ = "start";
  std::int64_t step_ = 0;
  std::int64_t work_ = 0;
  double step_at_s_ = 0;           // worker's time of the last report with a new step
  std::deque<double> step_times_;  // of the latest reports
};

}  // namespace falcon::launch
