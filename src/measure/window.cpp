#include "measure/window.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace falcon::measure {

std::vector<double> joined_steps_ms(std::span<const RankSteps> ranks) {
  if (ranks.empty()) return {};
  std::size_t count = std::numeric_limits<std::size_t>::max();
  double previous_end_s = std::numeric_limits<double>::infinity();
  std::vector<double> ends_s;
  for (const RankSteps& rank : ranks) {
    count = std::min(count, rank.step_ms.size());
    previous_end_s = std::min(previous_end_s, rank.begin_s);
    ends_s.push_back(rank.begin_s);
  }
  std::vector<double> joined;
  joined.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t r = 0; r < ranks.size(); ++r) ends_s[r] += ranks[r].step_ms[k] * 1e-3;
    const double end_s = *std::max_element(ends_s.begin(), ends_s.end());
    joined.push_back((end_s - previous_end_s) * 1e3);
    previous_end_s = end_s;
  }
  return joined;
}

Measured<double> rate(double total, double window_s) {
  if (!(window_s > 0)) return Measured<double>::missing("the window has no length");
  return total / window_s;
}

Measured<double> time_weighted_mean(std::span<const double> t_s, std::span<const double> values,
                                    double begin_s, double end_s) {
  double weighted = 0;
  double seconds = 0;
  for (std::size_t i = 0; i < t_s.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const double from = std::max(t_s[i], begin_s);
    const double to = std::min(i + 1 < t_s.size() ? t_s[i + 1] : end_s, end_s);
    if (to <= from) continue;
    weighted += values[i] * (to - from);
    seconds += to - from;
  }
  if (!(seconds > 0)) return Measured<double>::missing("no reading in the window");
  return weighted / seconds;
}

}  // namespace falcon::measure
