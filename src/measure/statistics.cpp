#include "measure/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace falcon::measure {
namespace {

constexpr std::size_t kMinUnbiased = 10;  // below, the bias formula amplifies noise
constexpr std::size_t kMinBatched = 100;  // 20 batches of at least 5 values
constexpr std::size_t kBatches = 20;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Sum of squared distances from the mean; two passes, as one pass loses digits on long steps.
double squares_of(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

double batch_half_width(std::span<const double> values) {
  std::vector<double> means;
  for (std::size_t i = 0; i < kBatches; ++i) {
    const std::size_t begin = i * values.size() / kBatches;
    const std::size_t end = (i + 1) * values.size() / kBatches;
    means.push_back(mean_of(values.subspan(begin, end - begin)));
  }
  const double degrees = kBatches - 1;
  const double variance = squares_of(means, mean_of(means)) / degrees;
  return student_t_95(degrees) * std::sqrt(variance / kBatches);
}

Statistics all_missing(std::int64_t count, const std::string& reason) {
  const auto none = Measured<double>::missing(reason);
  return {count, none, none, none, none, none, none, none, none, none};
}

}  // namespace

double percentile(std::span<const double> sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

double student_t_95(double degrees_of_freedom) {
  static constexpr std::array kTable{
      12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
      2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
      2.0796,  2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
  const double whole = std::floor(std::max(1.0, degrees_of_freedom));
  if (whole <= kTable.size()) return kTable[static_cast<std::size_t>(whole) - 1];
  const double z = 1.959963985;  // the normal distribution's quantile at 0.975
  const double z3 = z * z * z;
  return z + (z3 + z) / (4 * whole) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * whole * whole);
}

double lag1_autocorrelation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  const double squares = squares_of(values, mean);
  if (!(squares > 0)) return 0;
  double products = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    products += (values[i] - mean) * (values[i - 1] - mean);
  }
  const auto n = static_cast<double>(values.size());
  const double raw = products / squares;
  const double unbiased = values.size() >= kMinUnbiased ? (n * raw + 1) / (n - 4) : raw;
  return std::clamp(unbiased, 0.0, 0.99);
}

double mean_half_width_95(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double variance = squares_of(values, mean_of(values)) / (n - 1);
  const double r = lag1_autocorrelation(values);
  const double effective = std::max(2.0, n * (1 - r) / (1 + r));
  const double half = student_t_95(effective - 1) * std::sqrt(variance / effective);
  return values.size() >= kMinBatched ? std::max(half, batch_half_width(values)) : half;
}

Statistics summarize(std::span<const double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (values.empty()) return all_missing(count, "no values");
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    return all_missing(count, "a value is not finite");
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  Statistics out;
  out.count = count;
  out.mean = mean_of(values);
  out.p50 = percentile(sorted, 0.50);
  out.p90 = percentile(sorted, 0.90);
  out.p95 = percentile(sorted, 0.95);
  out.p99 = percentile(sorted, 0.99);
  out.min = sorted.front();
  out.max = sorted.back();
  if (count < 2) {
    out.stddev = out.ci95 = Measured<double>::missing("one value");
    return out;
  }
  out.stddev = std::sqrt(squares_of(values, *out.mean) / static_cast<double>(count - 1));
  out.ci95 = mean_half_width_95(values);
  return out;
}

}  // namespace falcon::measure
