// What ends the work before the workers start: a signal, or the deadline of the run.
#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "launch/signals.h"

namespace falcon::cli {

class Patience {
 public:
  /// signals must outlive it. started_s: what timeout_s counts from, steady clock. at_check: called
  /// by every check.
  Patience(launch::SignalWatch& signals, double started_s, std::optional<double> timeout_s,
           std::function<void()> at_check = {})
      : signals_(signals),
        started_s_(started_s),
        timeout_s_(timeout_s),
        at_check_(std::move(at_check)) {}

  /// Throws Error(kInterrupted or kTerminated) after a signal, Error(kHang) after the deadline.
  void check() const {
    launch::throw_if_interrupted(signals_);
    if (at_check_) at_check_();
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
  std::function<void()> at_check_;
};

}  // namespace falcon::cli
