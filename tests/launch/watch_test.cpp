// When a worker counts as silent or stuck, on an invented clock.
#include "launch/watch.h"

#include <gtest/gtest.h>

namespace falcon::launch {
namespace {

using Verdict = Watch::Verdict;
const Limits kDefaults;

TEST(Watch, AWorkerThatHasNotSpokenHasTheTimeOfTheSetUp) {
  const Watch watch(kDefaults, 100);
  EXPECT_EQ(watch.verdict(399.9), Verdict::kFine);
  EXPECT_EQ(watch.verdict(400), Verdict::kStuck);
  EXPECT_EQ(watch.next_check_s(), 400);
}

TEST(Watch, OneThatHasSpokenIsSilentAfterTenSeconds) {
  Watch watch(kDefaults, 0);
  watch.heard(5);
  EXPECT_EQ(watch.next_check_s(), 15);
  EXPECT_EQ(watch.verdict(14.9), Verdict::kFine);
  EXPECT_EQ(watch.verdict(15), Verdict::kSilent);
  watch.heard(15);
  EXPECT_EQ(watch.verdict(24), Verdict::kFine);
}

void let_live(Watch& watch, double until_s, double& now_s) {
  for (; now_s < until_s; ++now_s) watch.heard(now_s);
}

TEST(Watch, SetUpMayTakeLongAsLongAsPhasesOrStepsGoOn) {
  Watch watch(kDefaults, 0);
  double now_s = 0;
  watch.phase("build", 0);
  let_live(watch, 299, now_s);
  EXPECT_EQ(watch.verdict(now_s), Verdict::kFine);
  watch.phase("warm_up", now_s);
  let_live(watch, 598, now_s);
  EXPECT_EQ(watch.verdict(now_s), Verdict::kFine);
  watch.step(1, now_s, now_s);
  let_live(watch, 890, now_s);
  EXPECT_EQ(watch.verdict(now_s), Verdict::kFine);
  watch.phase("warm_up", now_s);  // the same phase again is no progress
  let_live(watch, 899, now_s);
  EXPECT_EQ(watch.verdict(now_s), Verdict::kStuck);
  EXPECT_EQ(watch.current_phase(), "warm_up");
}

TEST(Watch, WhileMeasuringStepsAreExpectedWithinAMinute) {
  Watch watch(kDefaults, 0);
  watch.phase("measure", 0);
  watch.step(10, 1, 1);
  watch.step(20, 2, 2);
  EXPECT_EQ(watch.progress_limit_s(), 60);
  double now_s = 2;
  let_live(watch, 62, now_s);
  EXPECT_EQ(watch.verdict(61.9), Verdict::kFine);
  EXPECT_EQ(watch.verdict(62), Verdict::kStuck);
  EXPECT_EQ(watch.last_step(), 20);
}

TEST(Watch, LongStepsHaveTwentyTimesTheirMedian) {
  Watch watch(kDefaults, 0);
  watch.phase("measure", 0);
  watch.step(1, 100, 100);  // one-time costs
  for (int i = 2; i < 10; ++i) watch.step(i, 100 + 5 * i, 100 + 5 * i);
  EXPECT_DOUBLE_EQ(watch.progress_limit_s(), 100);
}

TEST(Watch, OneSlowStepDoesNotChangeThePace) {
  Watch watch(kDefaults, 0);
  watch.phase("measure", 0);
  double now_s = 0;
  for (int i = 1; i < 100; ++i) {
    now_s += i == 50 ? 40 : 4;
    watch.step(i, now_s, now_s);
  }
  EXPECT_DOUBLE_EQ(watch.progress_limit_s(), 80);
}

TEST(Watch, AStepBackIsNoProgress) {
  Watch watch(kDefaults, 0);
  watch.phase("measure", 0);
  watch.step(10, 1, 1);
  watch.step(9, 30, 30);
  EXPECT_EQ(watch.last_step(), 10);
  EXPECT_EQ(watch.unmoved_s(31), 30);
}

TEST(Watch, WhoHasDeliveredIsWatchedNoMore) {
  Watch watch(kDefaults, 0);
  watch.heard(0);
  watch.finished();
  EXPECT_EQ(watch.verdict(1e6), Verdict::kFine);
  EXPECT_GT(watch.next_check_s(), 1e9);
}

TEST(Watch, TimeInWhichNobodyListenedIsForgiven) {
  Watch watch(kDefaults, 0);
  watch.heard(0);
  watch.forgive(20);
  EXPECT_EQ(watch.verdict(29), Verdict::kFine);
  EXPECT_EQ(watch.verdict(30), Verdict::kSilent);
}

TEST(Watch, WorkWithoutStepsIsProgress) {
  Watch watch({}, 0);
  watch.phase("evaluate", 0);
  for (int k = 1; k <= 5; ++k) {
    watch.heard(100 * k);
    watch.work(k, 100 * k);
    EXPECT_EQ(watch.verdict(100 * k), Watch::Verdict::kFine);
  }
  watch.heard(801);
  watch.work(5, 801);  // no more than before
  EXPECT_EQ(watch.verdict(801), Watch::Verdict::kStuck);
}

}  // namespace
}  // namespace falcon::launch
