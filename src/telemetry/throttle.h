// Why a GPU's clocks are held down. Some reasons the driver counts itself, in nanoseconds (exact);
// the others are seen in a bit mask of one instant, as a share of the readings.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "falconbench/sampler.h"

namespace falcon::telemetry {

struct ThrottleReason {
  const char* name;
  std::uint64_t bit;  // of nvmlDeviceGetCurrentClocksEventReasons
  unsigned field;     // NVML_FI_DEV_* that counts it, ns; 0: none
};
std::span<const ThrottleReason> throttle_reasons();

/// Adds a reason that held for some time. Both samplers of a GPU add to the same list, which stays
/// sorted, largest share first. result: the share in percent.
void add_throttle(const std::string& reason, const MetricResult& result, const char* basis,
                  GpuTelemetry& gpu);

}  // namespace falcon::telemetry
