// What the training loop asks of, and tells to, whoever started it.
#pragma once

namespace falcon::train {

class RunControl {
 public:
  virtual ~RunControl() = default;
  /// The run should end at the next step that all ranks can agree on.
  virtual bool stop_requested() const = 0;
  /// The measured window, from the end of the last warm-up step to that of the last step; steady
  /// clock.
  virtual void measuring_began(double time_s) = 0;
  virtual void measuring_ended(double time_s) = 0;
  /// What the rank does from now on: checkpoint, measure, evaluate, save.
  virtual void entered(const char* phase) = 0;
  /// Something got done in a phase without steps.
  virtual void worked() = 0;
};

}  // namespace falcon::train
