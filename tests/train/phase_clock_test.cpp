// The split of a step into phases, on marks at made-up times.
#include "train/phase_clock.h"

#include <map>
#include <numeric>

#include <gtest/gtest.h>

namespace falcon::train {
namespace {

class MadeUpMarks : public TimeMarks {
 public:
  double now_ms = 0;
  std::map<int, double> elsewhere_ms;  // for places that are not passed "now"
  int recorded = 0;

  void record(std::int64_t step, int place) override {
    const auto found = elsewhere_ms.find(place);
    times_ms_[{step % kSlots, place}] = found == elsewhere_ms.end() ? now_ms : found->second;
    ++recorded;
  }
  bool has_passed(std::int64_t, int) override { return true; }
  int places() const override { return num_places(3); }
  void* event(std::int64_t, int) override { return nullptr; }
  void wait(std::int64_t, int) override {}
  double between_ms(std::int64_t from_step, int from, std::int64_t to_step, int to) override {
    return times_ms_.at({to_step % kSlots, to}) - times_ms_.at({from_step % kSlots, from});
  }

 private:
  std::map<std::pair<std::int64_t, int>, double> times_ms_;
};

struct Clock {
  MadeUpMarks* marks;
  PhaseClock clock;
  Clock(bool has_copies, bool marks_gradients, std::int64_t micro_batches = 1)
      : Clock(std::make_unique<MadeUpMarks>(), has_copies, marks_gradients, micro_batches) {}
  Clock(std::unique_ptr<MadeUpMarks> owned, bool has_copies, bool marks_gradients,
        std::int64_t micro_batches)
      : marks(owned.get()), clock(std::move(owned), has_copies, micro_batches) {
    clock.set_marks_gradients(marks_gradients);
    clock.start();
  }
  void at(double ms, Mark mark, std::int64_t micro_batch = 0) {
    marks->now_ms = ms;
    mark == Mark::kStepEnd ? clock.end_step() : clock.mark(mark, micro_batch);
  }
};

double sum_of(const StepTime& time) {
  return std::accumulate(time.phases_ms->begin(), time.phases_ms->end(), 0.0);
}

double phase_of(const StepTime& time, Phase phase) {
  return (*time.phases_ms)[static_cast<std::size_t>(phase)];
}

/// A step from 0 to 20 ms: input ready at 4, prepared at 5, and so on.
StepTime one_step(Clock& c, double copy_begin_ms, double host_wait_s) {
  c.clock.begin_step();
  c.clock.data_waited(host_wait_s);
  c.at(copy_begin_ms, Mark::kCopyBegin);
  c.at(4, Mark::kInputReady);
  c.at(5, Mark::kPrepared);
  c.at(9, Mark::kForwardEnd);
  c.at(16, Mark::kGradientsComputed);
  c.at(18, Mark::kBackwardEnd);
  c.at(20, Mark::kStepEnd);
  return c.clock.harvest();
}

TEST(PhaseClock, EveryPartOfAStepHasOnePhase) {
  Clock c(true, true);
  const StepTime time = one_step(c, 3, 0.0025);
  EXPECT_EQ(time.step_ms, 20);
  EXPECT_EQ(phase_of(time, Phase::kDataWait), 2.5);
  EXPECT_EQ(phase_of(time, Phase::kH2d), 1);
  EXPECT_EQ(phase_of(time, Phase::kForward), 4);
  EXPECT_EQ(phase_of(time, Phase::kBackward), 7);
  EXPECT_EQ(phase_of(time, Phase::kCommunicationExposed), 2);
  EXPECT_EQ(phase_of(time, Phase::kOptimizer), 2);
  EXPECT_EQ(phase_of(time, Phase::kOther), 1.5);
  EXPECT_DOUBLE_EQ(sum_of(time), time.step_ms);
}

TEST(PhaseClock, ACopyBeforeTheStepBeganHidesTheWait) {
  Clock c(true, true);
  const StepTime time = one_step(c, -6, 0.004);  // the host waited, but the device had work
  EXPECT_EQ(phase_of(time, Phase::kDataWait), 0);
  EXPECT_EQ(phase_of(time, Phase::kH2d), 4);
  EXPECT_DOUBLE_EQ(sum_of(time), time.step_ms);
}

TEST(PhaseClock, WithoutCopiesAndReductionTheirPhasesAreZero) {
  Clock c(false, false);
  const StepTime time = one_step(c, 0, 0.003);
  EXPECT_EQ(phase_of(time, Phase::kDataWait), 3);
  EXPECT_EQ(phase_of(time, Phase::kH2d), 0);
  EXPECT_EQ(phase_of(time, Phase::kBackward), 9);
  EXPECT_EQ(phase_of(time, Phase::kCommunicationExposed), 0);
  EXPECT_DOUBLE_EQ(sum_of(time), time.step_ms);
}

TEST(PhaseClock, PassesOfMicroBatchesAddUp) {
  Clock c(false, true, 3);
  c.clock.begin_step();
  c.at(1, Mark::kInputReady);
  c.at(2, Mark::kPrepared);
  c.at(5, Mark::kForwardEnd, 0);
  c.at(11, Mark::kBackwardEnd, 0);
  c.at(13, Mark::kForwardEnd, 1);
  c.at(18, Mark::kBackwardEnd, 1);
  c.at(22, Mark::kForwardEnd, 2);
  c.at(29, Mark::kGradientsComputed);
  c.at(32, Mark::kBackwardEnd, 2);
  c.at(40, Mark::kStepEnd);
  const StepTime time = c.clock.harvest();
  EXPECT_EQ(phase_of(time, Phase::kForward), 3 + 2 + 4);
  EXPECT_EQ(phase_of(time, Phase::kBackward), 6 + 5 + 7);
  EXPECT_EQ(phase_of(time, Phase::kCommunicationExposed), 3);
  EXPECT_EQ(phase_of(time, Phase::kOptimizer), 8);
  EXPECT_DOUBLE_EQ(sum_of(time), time.step_ms);
}

TEST(PhaseClock, SwitchedOffItRecordsStepEndsOnly) {
  Clock c(true, true);
  c.clock.set_enabled(false);
  const int before = c.marks->recorded;
  const StepTime time = one_step(c, 3, 0);
  EXPECT_EQ(c.marks->recorded - before, 1);
  EXPECT_EQ(time.step_ms, 20);
  EXPECT_FALSE(time.phases_ms.has_value());
  c.clock.set_enabled(true);
  c.clock.begin_step();
  for (const Mark mark : {Mark::kCopyBegin, Mark::kInputReady, Mark::kPrepared, Mark::kForwardEnd,
                          Mark::kGradientsComputed, Mark::kBackwardEnd, Mark::kStepEnd}) {
    c.at(30, mark);
  }
  const StepTime next = c.clock.harvest();
  EXPECT_EQ(next.step, 1);
  EXPECT_EQ(next.step_ms, 10);
  EXPECT_NEAR(next.end_s - time.end_s, 0.01, 1e-9);
  EXPECT_TRUE(next.phases_ms.has_value());
}

}  // namespace
}  // namespace falcon::train
