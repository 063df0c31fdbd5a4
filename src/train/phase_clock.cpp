#include "train/phase_clock.h"

#include <algorithm>
#include <numeric>

#include <falconbench/clock.h>

namespace falcon::train {
std::string_view name_of(Phase phase) {
  constexpr std::array<std::string_view, kPhaseCount> kNames = {
      "data_wait", "h2d", "forward", "backward", "communication_exposed", "optimizer", "other"};
  return kNames[static_cast<std::size_t>(phase)];
}

namespace {
const int kEnd = place_of(Mark::kStepEnd, 0);
}  // namespace

PhaseClock::PhaseClock(std::unique_ptr<TimeMarks> marks, bool has_copies,
                       std::int64_t micro_batches)
    : marks_(std::move(marks)), has_copies_(has_copies), micro_batches_(micro_batches) {}

void PhaseClock::start() {
  marks_->record(begun_, kEnd);
  marks_->wait(begun_, kEnd);
  last_end_s_ = steady_now_s();
}

void PhaseClock::begin_step() {
  begun_ += 1;
  facts_of(begun_) = {enabled_next_, 0};
}

void PhaseClock::mark(Mark mark, std::int64_t micro_batch) {
  if (facts_of(begun_).enabled) marks_->record(begun_, place_of(mark, micro_batch));
}

void PhaseClock::data_waited(double seconds) {
  facts_of(begun_).data_wait_ms += 1e3 * seconds;
}

void PhaseClock::end_step() {
  marks_->record(begun_, kEnd);
  ended_ = begun_;
}

bool PhaseClock::can_harvest() {
  return harvested_ < ended_ && marks_->has_passed(harvested_ + 1, kEnd);
}

double PhaseClock::since_last_end(std::int64_t index, Mark mark, std::int64_t micro_batch) {
  return marks_->between_ms(index - 1, kEnd, index, place_of(mark, micro_batch));
}

/// Forward and backward passes take turns; the last backward pass ends with the communication.
void PhaseClock::add_passes(std::int64_t index, double prepared_ms,
                            std::array<double, kPhaseCount>& ms) {
  double before_ms = prepared_ms;
  for (std::int64_t i = 0; i < micro_batches_; ++i) {
    const bool is_last = i == micro_batches_ - 1;
    const double forward_ms = since_last_end(index, Mark::kForwardEnd, i);
    const double reduced_ms = since_last_end(index, Mark::kBackwardEnd, i);
    const double computed_ms =
        is_last && marks_gradients_ ? since_last_end(index, Mark::kGradientsComputed) : reduced_ms;
    ms[static_cast<std::size_t>(Phase::kForward)] += forward_ms - before_ms;
    ms[static_cast<std::size_t>(Phase::kBackward)] += computed_ms - forward_ms;
    ms[static_cast<std::size_t>(Phase::kCommunicationExposed)] += reduced_ms - computed_ms;
    before_ms = reduced_ms;
  }
}

std::array<double, kPhaseCount> PhaseClock::phases(std::int64_t index, double step_ms) {
  const double ready_ms = since_last_end(index, Mark::kInputReady);
  const double prepared_ms = since_last_end(index, Mark::kPrepared);
  // Before the copy began the stream was idle for want of data, or because the host came late: the
  // first is at most as long as the host waited for the loader.
  const double copy_ms =
      has_copies_ ? std::clamp(since_last_end(index, Mark::kCopyBegin), 0.0, ready_ms) : ready_ms;
  std::array<double, kPhaseCount> ms{};
  const auto of = [&](Phase phase) -> double& { return ms[static_cast<std::size_t>(phase)]; };
  of(Phase::kDataWait) = std::min(copy_ms, facts_of(index).data_wait_ms);
  of(Phase::kH2d) = ready_ms - copy_ms;
  add_passes(index, prepared_ms, ms);
  of(Phase::kOptimizer) = step_ms - since_last_end(index, Mark::kBackwardEnd, micro_batches_ - 1);
  of(Phase::kOther) = step_ms - std::accumulate(ms.begin(), ms.end(), 0.0);
  return ms;
}

StepTime PhaseClock::harvest() {
  const std::int64_t index = harvested_ + 1;
  marks_->wait(index, kEnd);
  StepTime time;
  time.step = index - 1;
  time.step_ms = marks_->between_ms(index - 1, kEnd, index, kEnd);
  last_end_s_ += time.step_ms / 1e3;
  time.end_s = last_end_s_;
  if (facts_of(index).enabled) time.phases_ms = phases(index, time.step_ms);
  harvested_ = index;
  return time;
}

}  // namespace falcon::train
