#include "analysis/gate.h"

#include <cmath>
#include <numbers>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/counter_random.h"

namespace falcon::analysis {
namespace {

using testing::HasSubstr;
using Values = std::vector<double>;

Side side(const Values& rates, double relative_ci95 = 0.001) {
  return {rates, Measured<double>(relative_ci95)};
}

/// Runs of a machine whose throughput varies by 2 % (normal, Box and Muller) from run to run.
Values noisy_runs(int number, double rate, base::CounterRandom& random) {
  Values rates;
  for (int i = 0; i < number; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double normal = radius * std::cos(2 * std::numbers::pi * random.uniform());
    rates.push_back(rate * (1 + 0.02 * normal));
  }
  return rates;
}

/// Share of 2000 comparisons in which the gate gives an alarm.
double alarm_share(int repeats, double slowdown, const GateRule& rule) {
  constexpr int kTrials = 2000;
  base::CounterRandom random({20261130, static_cast<std::uint64_t>(repeats)});
  int alarms = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Values base = noisy_runs(repeats, 100, random);
    const Values other = noisy_runs(repeats, 100 / (1 + slowdown), random);
    if (judge(side(base), side(other), rule).verdict == "regression") ++alarms;
  }
  return static_cast<double>(alarms) / kTrials;
}

TEST(GateBySimulation, FiveRepeatsWithAGateOfFivePercent) {
  const GateRule rule{.limit = 0.05};
  EXPECT_LE(alarm_share(5, 0, rule), 0.01) << "no change";
  EXPECT_GE(alarm_share(5, 0.10, rule), 0.95) << "10 % slower";
}

TEST(GateBySimulation, EightRepeatsWithAGateOfZero) {
  const GateRule rule{.limit = 0, .significance = 0.01};
  EXPECT_LE(alarm_share(8, 0, rule), 0.01) << "no change";
  EXPECT_GE(alarm_share(8, 0.05, rule), 0.95) << "5 % slower";
}

TEST(Gate, RepeatsNeedBothTests) {
  const Values base{100, 101, 99, 100.5, 99.5};
  const GateResult slower = judge(side(base), side({90, 91, 89, 90.5, 89.5}), {.limit = 0.05});
  EXPECT_EQ(slower.verdict, "regression");
  EXPECT_NEAR(slower.slowdown, 100.0 / 90 - 1, 1e-12);
  EXPECT_LT(*slower.p_rank, 0.05);
  EXPECT_LT(*slower.p_t, 0.05);
  // One run that hardly moved at all: the mean is far off, the ranks prove nothing.
  const GateResult outlier =
      judge(side(base), side({100.6, 101, 99.2, 100.4, 20}), {.limit = 0.05});
  EXPECT_EQ(outlier.verdict, "unclear");
  EXPECT_THAT(outlier.why, HasSubstr("rank test p"));
}

TEST(Gate, BelowTheLimitIsFine) {
  const GateResult result =
      judge(side({100, 100.1, 99.9}), side({97, 97.1, 96.9}), {.limit = 0.05});
  EXPECT_EQ(result.verdict, "ok");
  EXPECT_THAT(result.why, HasSubstr("not above the gate of 5.0 %"));
  EXPECT_EQ(judge(side({100, 99}), side({200, 201}), {.limit = 0}).verdict, "ok") << "faster";
}

TEST(Gate, TwoOrThreeRunsCannotConvinceTheRankTest) {
  // 2 against 2 has 6 divisions: p is never below 1/6.
  const GateResult result = judge(side({100, 100.1}), side({80, 80.1}), {.limit = 0.05});
  EXPECT_EQ(result.verdict, "unclear");
  EXPECT_NEAR(*result.p_rank, 1.0 / 6, 1e-12);
  EXPECT_THAT(result.why, HasSubstr("do not agree"));
}

TEST(Gate, OneRunEachNeedsThreeTimesTheJointInterval) {
  // joint interval: hypot(0.01, 0.01) = 1.41 %, three times that is 4.24 %
  EXPECT_EQ(judge(side({100}, 0.01), side({100 / 1.03}, 0.01), {.limit = 0.02}).verdict, "unclear");
  const GateResult above = judge(side({100}, 0.01), side({100 / 1.05}, 0.01), {.limit = 0.02});
  EXPECT_EQ(above.verdict, "regression");
  EXPECT_THAT(above.why, HasSubstr("one run each"));
  EXPECT_FALSE(above.p_rank.has_value());
  EXPECT_EQ(judge(side({100}, 0.01), side({100 / 1.05}, 0.01), {.limit = 0.06}).verdict, "ok");
}

TEST(Gate, OneRunAgainstSeveralCountsAsOneRun) {
  const GateResult result = judge(side({100, 101, 99}), side({80}), {.limit = 0.05});
  EXPECT_EQ(result.verdict, "regression");
  EXPECT_THAT(result.why, HasSubstr("3 runs of the base, 1 of this"));
}

TEST(Gate, WithoutAnIntervalOneRunProvesNothing) {
  const Values base{100};
  const Values other{50};
  const Side unknown{other, Measured<double>::missing("one value")};
  const GateResult result = judge(side(base), unknown, {.limit = 0.05});
  EXPECT_EQ(result.verdict, "unclear");
  EXPECT_THAT(result.why, HasSubstr("one value"));
}

}  // namespace
}  // namespace falcon::analysis
