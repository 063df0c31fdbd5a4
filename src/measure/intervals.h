// Times in which at least one of several things went on.
#pragma once
#include <vector>

namespace falcon::measure {

struct Interval {
  double begin = 0, end = 0;
};

/// Length of the union of `parts`, in any order, within `window`.
double covered(std::vector<Interval> parts, Interval window);

}  // namespace falcon::measure
