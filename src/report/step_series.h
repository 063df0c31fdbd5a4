// Step times over time, beside the telemetry's series.
#pragma once
#include "falconbench/telemetry.h"
#include "report/evidence.h"

namespace falcon::report {

inline constexpr std::size_t kMaxStepPoints = 3000;

/// t_s: end of each step, seconds after zero_s. More than kMaxStepPoints steps are merged in equal
/// groups to mean, smallest and largest.
Series make_step_series(const Evidence& evidence, double zero_s);

}  // namespace falcon::report
