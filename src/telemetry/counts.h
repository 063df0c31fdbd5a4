// Whole numbers from the summaries of gauges that hold them.
#pragma once
#include <cstdint>

#include "falconbench/sampler.h"

namespace falcon::telemetry {

/// The largest value in the window; of a count the newest.
Measured<std::int64_t> largest(const MetricResult& result);
/// How much a count grew from its first to its last reading of the window.
Measured<std::int64_t> growth(const MetricResult& result);

}  // namespace falcon::telemetry
