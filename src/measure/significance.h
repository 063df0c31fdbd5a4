// Whether two sets of runs differ, and by how much: rank test, t test, bootstrap. Each value is one
// run; runs are taken as independent of each other. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <span>

namespace falcon::measure {

/// One-sided p of the rank-sum test (Mann and Whitney, "On a test of whether one of two random
/// variables is stochastically larger than the other", 1947): how likely ranks of `a` this low or
/// lower are when both come from one distribution. Ties share their mean rank. Exact, by counting
/// all divisions of the ranks (ties included), up to 40 values in all; above that the normal
/// approximation with corrections for ties and continuity. REQUIRES: neither is empty.
double rank_test_less(std::span<const double> a, std::span<const double> b);

/// One-sided p of Welch's t test (Welch, "The generalization of 'Student's' problem when several
/// different population variances are involved", 1947) against the mean of `a` being lower. Without
/// any spread: 0 when it is lower, 1 when higher, 0.5 when equal. REQUIRES: at least two values
/// each.
double welch_test_less(std::span<const double> a, std::span<const double> b);

/// P(T <= t) of Student's distribution, fractional degrees of freedom above 0: the regularised
/// incomplete beta function by its continued fraction (DLMF 8.17.22), modified Lentz.
double student_t_cdf(double t, double degrees_of_freedom);

struct Interval {
  double low = 0, high = 0;
};

/// 95 % percentile interval of mean(a) / mean(b) by the bootstrap (Efron and Tibshirani, "An
/// Introduction to the Bootstrap", 1993, chapter 13): 10000 resamples of both sides, drawn with the
/// seed, so the same values give the same interval. With few values it is narrow: 2 or 3 runs have
/// few ways to be drawn. REQUIRES: at least two values each, all above 0.
Interval bootstrap_ratio_95(std::span<const double> a, std::span<const double> b,
                            std::uint64_t seed = 1);

}  // namespace falcon::measure
