#include "measure/window.h"

#include <limits>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace falcon::measure {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(Rate, IsTotalOverTotalAndNotTheMeanOfRates) {
  // 10 samples in 0.1 s, then 10 in 0.3 s: the mean of the two rates would be 66.7
  EXPECT_DOUBLE_EQ(*rate(10 + 10, 0.1 + 0.3), 50);
}

TEST(Rate, AnEmptyWindowHasNone) {
  EXPECT_EQ(rate(10, 0).reason, "the window has no length");
  EXPECT_FALSE(rate(10, -1).has_value());
  EXPECT_FALSE(rate(10, std::numeric_limits<double>::quiet_NaN()).has_value());
}

TEST(JoinedSteps, OneRankIsItsOwnSeries) {
  const std::vector<double> steps{10, 20, 30};
  const std::vector<RankSteps> ranks{{5.0, steps}};
  EXPECT_THAT(joined_steps_ms(ranks),
              ElementsAre(DoubleNear(10, 1e-9), DoubleNear(20, 1e-9), DoubleNear(30, 1e-9)));
}

TEST(JoinedSteps, TheSlowestRankEndsEachStepAndTheSumIsTheWindow) {
  const std::vector<double> first{10, 10, 40};
  const std::vector<double> second{10, 30, 10};
  const std::vector<RankSteps> ranks{{1.000, first}, {1.005, second}};
  // ends: 10 20 60 and 15 45 55 ms after the first begin
  const std::vector<double> joined = joined_steps_ms(ranks);
  EXPECT_THAT(joined,
              ElementsAre(DoubleNear(15, 1e-9), DoubleNear(30, 1e-9), DoubleNear(15, 1e-9)));
  EXPECT_NEAR(std::accumulate(joined.begin(), joined.end(), 0.0), 60, 1e-9);
}

TEST(JoinedSteps, StopsAtTheRankWithTheFewestSteps) {
  const std::vector<double> many{10, 10, 10};
  const std::vector<double> few{10};
  EXPECT_EQ(joined_steps_ms(std::vector<RankSteps>{{0, many}, {0, few}}).size(), 1u);
  EXPECT_TRUE(joined_steps_ms(std::vector<RankSteps>{{0, many}, {0, {}}}).empty());
  EXPECT_TRUE(joined_steps_ms({}).empty());
}

TEST(TimeWeightedMean, LongerReadingsCountMore) {
  const std::vector<double> t{0, 1, 4};
  const std::vector<double> v{10, 20, 100};
  EXPECT_DOUBLE_EQ(*time_weighted_mean(t, v, 0, 4), (10 * 1 + 20 * 3) / 4.0);
  EXPECT_DOUBLE_EQ(*time_weighted_mean(t, v, 0, 5), (10 * 1 + 20 * 3 + 100 * 1) / 5.0);
  EXPECT_DOUBLE_EQ(*time_weighted_mean(t, v, 2, 3), 20);
  EXPECT_DOUBLE_EQ(*time_weighted_mean(t, v, -1, 1), 10);
}

TEST(TimeWeightedMean, WithoutAReadingInTheWindowThereIsNone) {
  const std::vector<double> t{5};
  const std::vector<double> v{1};
  EXPECT_EQ(time_weighted_mean(t, v, 0, 4).reason, "no reading in the window");
  EXPECT_FALSE(time_weighted_mean({}, {}, 0, 4).has_value());
  EXPECT_FALSE(time_weighted_mean(t, v, 6, 6).has_value());
  const std::vector<double> nan{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_FALSE(time_weighted_mean(t, nan, 5, 6).has_value());
}

}  // namespace
}  // namespace falcon::measure
