// Part of a run's telemetry: the switches of a chassis over the measured window.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/telemetry_parts.h"

namespace falcon {

/// A port of a switch in a chassis, as its management tells it by Redfish (DSP2046: Port,
/// PortMetrics).
struct FabricPortTelemetry {
  std::string chassis, fabric, switch_name, port;
  Measured<std::int64_t> drawer;
  Measured<std::string> host_link;
  Measured<std::string> type, link_status;
  Measured<std::int64_t> width, width_max;
  Measured<double> speed_gbit_per_s, speed_max_gbit_per_s;
  MeasuredSummary rx_bytes_per_s, tx_bytes_per_s;
  Measured<std::int64_t> correctable_errors, uncorrectable_errors, replays;
};
template <class V>
void visit_fields(FabricPortTelemetry& p, V& v) {
  v.field("chassis", p.chassis, "chassis, by its name in the system file");
  v.field("fabric", p.fabric, "fabric of the chassis");
  v.field("switch", p.switch_name, "switch of the fabric, e.g. a drawer");
  v.field("port", p.port, "port of the switch");
  v.field("drawer", p.drawer, "drawer that the switch serves");
  v.field("host_link", p.host_link, "host link of the drawer whose cable is in the port");
  v.field("type", p.type, "UpstreamPort (to a host), DownstreamPort (to a device), ...");
  v.field("link_status", p.link_status, "LinkUp, LinkDown, NoLink, ...");
  v.field("width", p.width, "lanes in use");
  v.field("width_max", p.width_max, "lanes that there are");
  v.field("speed_gbit_per_s", p.speed_gbit_per_s, "speed now, as the chassis says");
  v.field("speed_max_gbit_per_s", p.speed_max_gbit_per_s, "largest speed, as the chassis says");
  v.field("rx_bytes_per_s", p.rx_bytes_per_s, "bytes that the port received");
  v.field("tx_bytes_per_s", p.tx_bytes_per_s, "bytes that the port sent");
  v.field("correctable_errors", p.correctable_errors, "correctable PCIe errors in the window");
  v.field("uncorrectable_errors", p.uncorrectable_errors,
          "fatal and non-fatal PCIe errors in the window");
  v.field("replays", p.replays, "PCIe packets sent again in the window");
}

struct FabricTelemetry {
  Measured<std::vector<FabricPortTelemetry>> ports =
      Measured<std::vector<FabricPortTelemetry>>::missing(
          "the run used no chassis that the system file gives a management (redfish)");
};
template <class V>
void visit_fields(FabricTelemetry& f, V& v) {
  v.field("ports", f.ports, "ports of the switches in the chassis");
}

}  // namespace falcon
