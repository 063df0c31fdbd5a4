// What ends the work before the workers start: a signal, or the deadline of the run.
#pragma once
#include <limits>
#include <optional>
#include <string>

#include "base/text.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "launch/signals.h"

namespace falcon::cli {

class Patience {
 public:
  /// signals must outlive it. started_s: what timeout_s counts from, steady clock.
  Patience(launch::SignalWatch& signals, double started_s, std::optional<double> timeout_s)
      : signals_(signals), started_s_(started_s), timeout_s_(timeout_s) {}

  /// Throws Error(kInterrupted or kTerminated) after a signal, Error(kHang) after the deadline.
  void check() const {
    launch::throw_if_interrupted(signals_);
    if (left_s(steady_now_s()) > 0) return;
    throw Error(ExitCode::kHang,
                "the run took longer than timeout_s: " + base::number_text(*timeout_s_) + " s");
  }
  /// Seconds until the deadline.
  double left_s(double now_s) const {
    if (!timeout_s_) return std::numeric_limits<double>::infinity();
    return started_s_ + *timeout_s_ - now_s;
  }
  /// Readable when a signal has come.
  int fd() const { return signals_.fd(); }

 private:
  launch::SignalWatch& signals_;
  double started_s_;
  std::optional<double> timeout_s_;
};

}  // namespace falcon::cli
