#include "measure/significance.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

// Known values: scipy 1.17.1 (mannwhitneyu, ttest_ind, permutation_test, t.cdf), the call beside
// each.
namespace falcon::measure {
namespace {

using Values = std::vector<double>;

TEST(RankTest, ExactWithoutTies) {
  const Values c{1.1, 2.2, 3.3, 4.4, 5.5};
  const Values d{2.0, 4.0, 6.0, 8.0, 10.0, 12.0};
  // mannwhitneyu(c, d, alternative='less', method='exact')
  EXPECT_NEAR(rank_test_less(c, d), 0.06277056277056277, 1e-12);
  EXPECT_NEAR(rank_test_less(d, c), 0.9588744588744589, 1e-12);
  // five below five others: 1 of 252 divisions
  EXPECT_NEAR(rank_test_less(Values{1, 2, 3, 4, 5}, Values{6, 7, 8, 9, 10}), 1.0 / 252, 1e-12);
}

TEST(RankTest, ExactWithTies) {
  // permutation_test of the rank statistic over all 126 divisions, alternative='less'
  EXPECT_NEAR(rank_test_less(Values{1, 2, 2, 3}, Values{2, 3, 4, 4, 5}), 0.05555555555555555,
              1e-12);
  EXPECT_DOUBLE_EQ(rank_test_less(Values{4, 4}, Values{4, 4, 4}), 1);
}

TEST(RankTest, NormalApproximationForMany) {
  Values x;
  Values y;
  for (int i = 0; i < 25; ++i) {
    x.push_back(std::fmod(0.1 * i * i, 7) + i * 0.01);
    y.push_back(std::fmod(0.3 * i * i, 9) + i * 0.02);
  }
  // mannwhitneyu(x, y, alternative='less', method='asymptotic')
  EXPECT_NEAR(rank_test_less(x, y), 0.06632197588148897, 1e-9);
  EXPECT_DOUBLE_EQ(rank_test_less(Values(30, 1.0), Values(30, 1.0)), 1);
}

TEST(StudentT, DistributionFunction) {
  EXPECT_NEAR(student_t_cdf(-2.0, 3.5), 0.06306926128795672, 1e-12);
  EXPECT_NEAR(student_t_cdf(1.3, 7.25), 0.8832981830783054, 1e-12);
  EXPECT_NEAR(student_t_cdf(-8.0, 1.0), 0.039583424160565546, 1e-12);
  EXPECT_NEAR(student_t_cdf(0.5, 200.0), 0.6911876238417696, 1e-12);
  EXPECT_NEAR(student_t_cdf(-3.0, 8.0), 0.008535840616891326, 1e-12);
  EXPECT_DOUBLE_EQ(student_t_cdf(0, 5), 0.5);
}

TEST(WelchTest, KnownValue) {
  const Values a{19.8, 20.4, 19.6, 17.8, 18.5, 18.9, 18.3, 18.9, 19.5, 22.0};
  const Values b{28.2, 26.6, 20.1, 23.3, 25.2, 22.1, 17.7, 27.6, 20.6, 13.7,
                 23.2, 17.5, 20.6, 18.0, 23.9, 21.6, 24.3, 20.4, 24.0, 13.2};
  // ttest_ind(a, b, equal_var=False, alternative='less')
  EXPECT_NEAR(welch_test_less(a, b), 0.01798613551489846, 1e-12);
  EXPECT_NEAR(welch_test_less(b, a), 1 - 0.01798613551489846, 1e-12);
}

TEST(WelchTest, WithoutSpreadTheMeansDecide) {
  EXPECT_EQ(welch_test_less(Values{1, 1}, Values{2, 2}), 0);
  EXPECT_EQ(welch_test_less(Values{2, 2}, Values{1, 1}), 1);
  EXPECT_EQ(welch_test_less(Values{2, 2}, Values{2, 2}), 0.5);
}

TEST(Bootstrap, TheSameValuesGiveTheSameInterval) {
  const Values a{10.1, 10.3, 9.9, 10.2, 10.0};
  const Values b{5.1, 5.0, 4.9, 5.05, 4.95};
  const Interval first = bootstrap_ratio_95(a, b);
  const Interval again = bootstrap_ratio_95(a, b);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_LT(first.low, 10.1 / 5.0);
  EXPECT_GT(first.high, 10.1 / 5.0);
  // Normal theory: the standard error of the ratio of these means is 0.0180 (delta method, with
  // n in the variance as resampling has it), so the interval is 2.02 +- 0.035.
  EXPECT_NEAR(first.high - first.low, 2 * 1.96 * 0.0180, 0.012);
}

TEST(Bootstrap, WithoutSpreadTheIntervalIsAPoint) {
  const Interval interval = bootstrap_ratio_95(Values{3, 3, 3}, Values{2, 2});
  EXPECT_DOUBLE_EQ(interval.low, 1.5);
  EXPECT_DOUBLE_EQ(interval.high, 1.5);
}

}  // namespace
}  // namespace falcon::measure
