#include "measure/intervals.h"

#include <algorithm>

namespace falcon::measure {

double covered(std::vector<Interval> parts, Interval window) {
  std::sort(parts.begin(), parts.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  double sum = 0;
  double until = window.begin;
  for (const Interval& part : parts) {
    const double end = std::min(part.end, window.end);
    if (end <= until) continue;
    sum += end - std::max(part.begin, until);
    until = end;
  }
  return sum;
}

}  // namespace falcon::measure
