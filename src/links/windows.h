// How long a window is: shared by everything that times copies and collectives.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace falcon::links {

/// Timed before the windows, to learn how long one repeat takes.
inline constexpr std::int64_t kTrialRepeats = 4;
/// Fewer would time the ends of a window more than what is in it.
inline constexpr std::int64_t kMinRepeats = 2;

/// Repeats that fill a window of window_s, at most `most`.
inline std::int64_t repeats_for(double seconds_of_one, double window_s, std::int64_t most) {
  if (!(seconds_of_one > 0)) return most;
  const double wanted = std::ceil(window_s / seconds_of_one);
  return static_cast<std::int64_t>(
      std::clamp(wanted, static_cast<double>(kMinRepeats), static_cast<double>(most)));
}

}  // namespace falcon::links
