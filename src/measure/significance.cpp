#include "measure/significance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/counter_random.h"
#include "measure/statistics.h"

namespace falcon::measure {
namespace {

constexpr std::size_t kMaxExact = 40;
constexpr std::size_t kResamples = 10000;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

/// Twice the rank of each value of `a` followed by `b`, so that a shared mean rank is a whole
/// number.
struct Ranks {
  std::vector<std::size_t> doubled;
  double ties = 0;  // sum of t^3 - t over groups of t equal values
};

Ranks ranks_of(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::vector<double> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  Ranks ranks;
  for (const double value : all) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.doubled.push_back(
        static_cast<std::size_t>((first - sorted.begin()) + 1 + (last - sorted.begin())));
    const auto equal = static_cast<double>(last - first);
    ranks.ties += equal * equal - 1;  // each of the t equal values adds its share of t^3 - t
  }
  return ranks;
}

/// Share of the ways to choose `chosen` of the ranks whose sum is at most `limit`.
double share_of_sums(const std::vector<std::size_t>& ranks, std::size_t chosen, std::size_t limit) {
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  // ways[k][s]: how many sets of k ranks have the sum s
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(total + 1, 0.0));
  ways[0][0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t k = chosen; k > 0; --k) {
      for (std::size_t sum = total; sum + 1 > rank; --sum) {
        ways[k][sum] += ways[k - 1][sum - rank];
      }
    }
  }
  double low = 0;
  double all = 0;
  for (std::size_t sum = 0; sum <= total; ++sum) {
    all += ways[chosen][sum];
    if (sum <= limit) low += ways[chosen][sum];
  }
  return low / all;
}

/// Continued fraction of the incomplete beta function.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxTerms = 500;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m <= kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return value;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double resampled_mean(std::span<const double> values, base::CounterRandom& random) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[random.below(values.size())];
  return sum / static_cast<double>(values.size());
}

}  // namespace

double rank_test_less(std::span<const double> a, std::span<const double> b) {
  const Ranks ranks = ranks_of(a, b);
  const auto end_of_a = ranks.doubled.begin() + static_cast<std::ptrdiff_t>(a.size());
  const std::size_t sum = std::accumulate(ranks.doubled.begin(), end_of_a, std::size_t{0});
  if (ranks.doubled.size() <= kMaxExact) return share_of_sums(ranks.doubled, a.size(), sum);
  const auto m = static_cast<double>(a.size());
  const auto n = static_cast<double>(b.size());
  const double total = m + n;
  const double u = static_cast<double>(sum) / 2 - m * (m + 1) / 2;
  const double variance = m * n / 12 * (total + 1 - ranks.ties / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  const double z = (u - m * n / 2 + 0.5) / std::sqrt(variance);
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

double student_t_cdf(double t, double degrees_of_freedom) {
  const double x = degrees_of_freedom / (degrees_of_freedom + t * t);
  const double tail = incomplete_beta(degrees_of_freedom / 2, 0.5, x) / 2;
  return t > 0 ? 1 - tail : tail;
}

double welch_test_less(std::span<const double> a, std::span<const double> b) {
  const double difference = mean_of(a) - mean_of(b);
  const double of_a = variance_of(a) / static_cast<double>(a.size());
  const double of_b = variance_of(b) / static_cast<double>(b.size());
  if (!(of_a + of_b > 0)) return difference < 0 ? 0 : difference > 0 ? 1 : 0.5;
  const double degrees = (of_a + of_b) * (of_a + of_b) /
                         (of_a * of_a / static_cast<double>(a.size() - 1) +
                          of_b * of_b / static_cast<double>(b.size() - 1));
  return student_t_cdf(difference / std::sqrt(of_a + of_b), degrees);
}

Interval bootstrap_ratio_95(std::span<const double> a, std::span<const double> b,
                            std::uint64_t seed) {
  base::CounterRandom random({seed, 0x626f6f74});  // "boot": a stream of its own
  std::vector<double> ratios(kResamples);
  for (double& ratio : ratios) {
    const double numerator = resampled_mean(a, random);
    ratio = numerator / resampled_mean(b, random);
  }
  std::sort(ratios.begin(), ratios.end());
  return {percentile(ratios, 0.025), percentile(ratios, 0.975)};
}

}  // namespace falcon::measure
