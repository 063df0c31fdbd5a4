#include "measure/statistics.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace falcon::measure {
namespace {

using testing::DoubleNear;

TEST(Percentile, InterpolatesBetweenClosestRanks) {
  // numpy.percentile([15, 20, 35, 40, 50], [0, 25, 40, 50, 95, 100])
  const std::vector<double> sorted{15, 20, 35, 40, 50};
  EXPECT_DOUBLE_EQ(percentile(sorted, 0), 15);
  EXPECT_DOUBLE_EQ(percentile(sorted, 0.25), 20);
  EXPECT_DOUBLE_EQ(percentile(sorted, 0.40), 29);
  EXPECT_DOUBLE_EQ(percentile(sorted, 0.50), 35);
  EXPECT_DOUBLE_EQ(percentile(sorted, 0.95), 48);
  EXPECT_DOUBLE_EQ(percentile(sorted, 1), 50);
}

TEST(Summarize, NoValuesGiveNoFigures) {
  const Statistics s = summarize({});
  EXPECT_EQ(s.count, 0);
  for (const auto* figure :
       {&s.mean, &s.p50, &s.p90, &s.p95, &s.p99, &s.min, &s.max, &s.stddev, &s.ci95}) {
    EXPECT_FALSE(figure->has_value());
    EXPECT_EQ(figure->reason, "no values");
  }
}

TEST(Summarize, OneValueHasNoSpread) {
  const Statistics s = summarize(std::vector<double>{7});
  EXPECT_EQ(s.count, 1);
  for (const auto* figure : {&s.mean, &s.p50, &s.p90, &s.p95, &s.p99, &s.min, &s.max}) {
    EXPECT_EQ(*figure, Measured<double>(7.0));
  }
  EXPECT_EQ(s.stddev.reason, "one value");
  EXPECT_EQ(s.ci95.reason, "one value");
}

TEST(Summarize, TwoValues) {
  const Statistics s = summarize(std::vector<double>{3, 1});
  EXPECT_DOUBLE_EQ(*s.mean, 2);
  EXPECT_DOUBLE_EQ(*s.p50, 2);
  EXPECT_DOUBLE_EQ(*s.p90, 2.8);
  EXPECT_DOUBLE_EQ(*s.min, 1);
  EXPECT_DOUBLE_EQ(*s.max, 3);
  EXPECT_DOUBLE_EQ(*s.stddev, std::sqrt(2.0));
  EXPECT_NEAR(*s.ci95, 12.7062, 1e-9);  // t(1) * sqrt(2) / sqrt(2)
}

TEST(Summarize, KnownVector) {
  const Statistics s = summarize(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.count, 8);
  EXPECT_DOUBLE_EQ(*s.mean, 5);
  EXPECT_DOUBLE_EQ(*s.stddev, std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(*s.p50, 4.5);
  EXPECT_DOUBLE_EQ(*s.max, 9);
}

TEST(Summarize, AValueThatIsNotFiniteLeavesNoFigure) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Statistics s = summarize(std::vector<double>{1, bad, 3});
    EXPECT_EQ(s.count, 3);
    EXPECT_FALSE(s.mean.has_value());
    EXPECT_EQ(s.max.reason, "a value is not finite");
  }
}

TEST(StudentT, AgreesWithTables) {
  EXPECT_NEAR(student_t_95(1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t_95(9), 2.2622, 1e-4);
  EXPECT_NEAR(student_t_95(9.9), 2.2622, 1e-4);
  EXPECT_NEAR(student_t_95(31), 2.0395, 1e-4);
  EXPECT_NEAR(student_t_95(60), 2.0003, 1e-4);
  EXPECT_NEAR(student_t_95(120), 1.9799, 1e-4);
  EXPECT_NEAR(student_t_95(1e9), 1.959964, 1e-6);
  EXPECT_NEAR(student_t_95(0.2), 12.7062, 1e-4);
}

std::vector<double> autoregressive(std::size_t count, double r, std::mt19937_64& random) {
  std::normal_distribution<double> noise;
  double state = noise(random) / std::sqrt(1 - r * r);
  std::vector<double> series;
  for (std::size_t i = 0; i < count; ++i) {
    series.push_back(100 + state);
    state = r * state + noise(random);
  }
  return series;
}

double coverage(std::size_t count, double r) {
  std::mt19937_64 random(count);
  int held = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Statistics s = summarize(autoregressive(count, r, random));
    held += std::abs(*s.mean - 100) <= *s.ci95;
  }
  return held / static_cast<double>(kTrials);
}

TEST(MeanHalfWidth, HoldsTheTrueMeanInAbout95Percent) {
  EXPECT_THAT(coverage(30, 0), DoubleNear(0.96, 0.02));
  EXPECT_THAT(coverage(100, 0), DoubleNear(0.96, 0.02));
  EXPECT_THAT(coverage(100, 0.5), DoubleNear(0.95, 0.02));
  EXPECT_THAT(coverage(100, 0.8), DoubleNear(0.94, 0.02));
  EXPECT_THAT(coverage(300, 0.8), DoubleNear(0.95, 0.02));
}

TEST(MeanHalfWidth, IndependentValuesAreNearThePlainFormula) {
  std::mt19937_64 random(5);
  const std::vector<double> series = autoregressive(10000, 0, random);
  const Statistics s = summarize(series);
  const double plain = 1.96 * *s.stddev / 100;
  EXPECT_GT(*s.ci95, plain * 0.99);
  EXPECT_LT(*s.ci95, plain * 1.5);
}

TEST(MeanHalfWidth, SlowDriftUnderNoiseWidens) {
  std::mt19937_64 random(6);
  std::vector<double> series = autoregressive(1000, 0, random);
  const double before = mean_half_width_95(series);
  for (std::size_t i = 500; i < series.size(); ++i) series[i] += 0.5;
  EXPECT_GT(mean_half_width_95(series), 1.5 * before);
}

TEST(MeanHalfWidth, AConstantHasNoUncertaintyAndAlternationDoesNotNarrow) {
  EXPECT_DOUBLE_EQ(mean_half_width_95(std::vector<double>(50, 3.25)), 0);
  std::vector<double> alternating;
  for (int i = 0; i < 40; ++i) alternating.push_back(i % 2 == 0 ? 1 : 3);
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(alternating), 0);
  EXPECT_NEAR(mean_half_width_95(alternating), student_t_95(39) * std::sqrt(40.0 / 39 / 40), 1e-12);
}

}  // namespace
}  // namespace falcon::measure
