#include "telemetry/throttle.h"

#include <algorithm>

namespace falcon::telemetry {

std::span<const ThrottleReason> throttle_reasons() {
  static constexpr ThrottleReason kReasons[] = {
      {"idle", 0x1, 0},          {"application_clocks", 0x2, 0}, {"sw_power_cap", 0x4, 74},
      {"hw_slowdown", 0x8, 0},   {"sync_boost", 0x10, 76},       {"sw_thermal", 0x20, 269},
      {"hw_thermal", 0x40, 270}, {"hw_power_brake", 0x80, 271},  {"display_clock", 0x100, 0},
  };
  return kReasons;
}

void add_throttle(const std::string& reason, const MetricResult& result, const char* basis,
                  GpuTelemetry& gpu) {
  if (!result.summary.has_value()) {
    if (!gpu.throttle.has_value()) gpu.throttle.reason = result.summary.reason;
    return;
  }
  if (!gpu.throttle.has_value()) gpu.throttle = std::vector<ThrottleShare>();
  std::vector<ThrottleShare>& shares = *gpu.throttle.value;
  const double share_pct = std::min(100.0, result.summary.value->mean);
  if (share_pct <= 0) return;
  const auto below = std::find_if(shares.begin(), shares.end(), [share_pct](const auto& share) {
    return share.share_pct < share_pct;
  });
  shares.insert(below, {reason, share_pct, basis});
}

}  // namespace falcon::telemetry
