// Where the time of each step goes. A step lasts from the end of the one before to its own end on
// the training stream, and every part of it belongs to exactly one phase, so the phases sum to it.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "train/time_marks.h"

namespace falcon::train {

enum class Phase {
  kDataWait,              // the stream was idle because the loader had no batch yet
  kH2d,                   // it waited for the copy to the device
  kForward,               // loss included
  kBackward,              // up to the last local gradient
  kCommunicationExposed,  // from there to the averaged gradients
  kOptimizer,             // loss scaling, update, bookkeeping
  kOther,                 // preparation of the pictures, launch gaps before the forward pass
};
inline constexpr int kPhaseCount = 7;
std::string_view name_of(Phase phase);  // as in PhaseTimes::ms

struct StepTime {
  std::int64_t step = 0;  // counted from 0
  double end_s = 0;       // steady clock
  double step_ms = 0;
  std::optional<std::array<double, kPhaseCount>> phases_ms;  // absent: not marked in this step
};

/// One thread, except mark(), which the backward pass may call from its own while the first waits.
class PhaseClock {
 public:
  /// has_copies: batches are copied to the device (GPU). marks_gradients: kGradientsComputed is
  /// recorded in every step. micro_batches: as marks was made for.
  PhaseClock(std::unique_ptr<TimeMarks> marks, bool has_copies, std::int64_t micro_batches = 1);
  void set_marks_gradients(bool marks_gradients) { marks_gradients_ = marks_gradients; }
  /// False: only step ends are recorded, from the next step on.
  void set_enabled(bool enabled) { enabled_next_ = enabled; }

  /// The end of "the step before": the next step is counted from now on; waits for the stream. At
  /// the beginning, and after a pause. REQUIRES: every step is harvested.
  void start();
  void begin_step();
  void mark(Mark mark, std::int64_t micro_batch = 0);
  /// The host waited this long for the batch of the current step.
  void data_waited(double seconds);
  void end_step();

  /// Their steps are counted as begun() does.
  TimeMarks& marks() { return *marks_; }
  double last_end_s() const { return last_end_s_; }  // of the last harvested step, or of start()
  std::int64_t begun() const { return begun_; }
  std::int64_t harvested() const { return harvested_; }
  /// Whether the oldest step that has ended but not been harvested is over on the device.
  bool can_harvest();
  /// That step; waits for it. At most TimeMarks::kSlots - 2 steps may be left unharvested.
  StepTime harvest();

 private:
  struct StepFacts {
    bool enabled = false;
    double data_wait_ms = 0;
  };
  StepFacts& facts_of(std::int64_t index) { return facts_[index % TimeMarks::kSlots]; }
  std::array<double, kPhaseCount> phases(std::int64_t index, double step_ms);
  void add_passes(std::int64_t index, double prepared_ms, std::array<double, kPhaseCount>& ms);
  double since_last_end(std::int64_t index, Mark mark, std::int64_t micro_batch = 0);

  std::unique_ptr<TimeMarks> marks_;
  bool has_copies_;
  std::int64_t micro_batches_;
  bool marks_gradients_ = false;
  bool enabled_next_ = true;
  std::array<StepFacts, TimeMarks::kSlots> facts_{};
  // the ring is indexed from 1: place 0 is "the step before the first"
  std::int64_t begun_ = 0;
  std::int64_t ended_ = 0;
  std::int64_t harvested_ = 0;
  double last_end_s_ = 0;
};

}  // namespace falcon::train
