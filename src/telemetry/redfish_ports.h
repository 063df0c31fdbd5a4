// Ports of the switches in a chassis, found by walking a Redfish service: Fabrics, Switches, Ports,
// and what their PortMetrics count.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "telemetry/redfish_client.h"

namespace falcon::telemetry {

struct RedfishPort {
  FabricPortTelemetry facts;           // without what is counted
  Measured<std::string> metrics_path;  // of its PortMetrics
};

/// All ports; missing: why there is none. A switch or port that cannot be read costs no other one:
/// it is left out, or has reasons in place of facts.
Measured<std::vector<RedfishPort>> find_ports(RedfishClient& client, const std::string& chassis);

/// What one port has counted, in this order.
enum PortCounter : std::size_t { kRxBytes, kTxBytes, kCorrectable, kUncorrectable, kReplays };
constexpr std::size_t kNumPortCounters = 5;
std::array<Reading, kNumPortCounters> read_counters(const Measured<base::Value>& metrics);

}  // namespace falcon::telemetry
