#include "telemetry/counts.h"

#include <cmath>

namespace falcon::telemetry {

Measured<std::int64_t> largest(const MetricResult& result) {
  if (!result.summary.has_value()) return Measured<std::int64_t>::missing(result.summary.reason);
  return static_cast<std::int64_t>(std::llround(result.summary.value->max));
}

Measured<std::int64_t> growth(const MetricResult& result) {
  if (!result.summary.has_value()) return Measured<std::int64_t>::missing(result.summary.reason);
  const Summary& summary = *result.summary.value;
  return static_cast<std::int64_t>(std::llround(summary.max - summary.min));
}

}  // namespace falcon::telemetry
