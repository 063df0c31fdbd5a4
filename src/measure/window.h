// Rates and means over a window of time. Times are seconds of one clock. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "falconbench/measured.h"

namespace falcon::measure {

/// One rank's measured part: when it began, and the time of each of its steps.
struct RankSteps {
  double begin_s = 0;
  std::span<const double> step_ms;
};

/// The steps of all ranks together, in ms. The window opens when the first rank begins; step k ends
/// when the slowest rank ends its step k. So the sum is the whole window, and a straggler shows.
/// As many steps as the rank with the fewest has.
std::vector<double> joined_steps_ms(std::span<const RankSteps> ranks);

/// Total over total, never a mean of rates: 10 samples in 0.1 s and 10 in 0.3 s are 50 a second.
/// Missing for an empty window.
Measured<double> rate(double total, double window_s);

/// Mean of readings over [begin_s, end_s]: each reading holds from its time to the next one's, the
/// last one to the end; the one in force at the begin counts from there, and time before the first
/// reading does not count. Readings that are not finite hold for no time. Missing when no reading
/// falls into the window. REQUIRES: t_s rising, as long as values.
Measured<double> time_weighted_mean(std::span<const double> t_s, std::span<const double> values,
                                    double begin_s, double end_s);

}  // namespace falcon::measure
