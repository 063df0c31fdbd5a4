// Times in which at least one of several things went on.
#pragma once
#include <limits>
#include <vector>

namespace falcon::measure {

struct Interval {
  double begin = 0, end = 0;
};

inline constexpr Interval kAlways{-std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::infinity()};

/// Length of the union of `parts`, in any order, within `window`.
double covered(std::vector<Interval> parts, Interval window = kAlways);

}  // namespace falcon::measure
