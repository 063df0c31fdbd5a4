#include "report/links/expectation.h"

#include <algorithm>
#include <cstdlib>

#include "measure/link_rates.h"

namespace falcon::report {
namespace {

using measure::LinkRate;
using measure::PcieUse;

const LinkDevice& device_at(const LinksInput& input, int device) {
  return input.devices.at(static_cast<std::size_t>(device));
}

Measured<LinkRate> pcie_rate(const LinkDevice& device, PcieUse use) {
  if (!device.pcie_generation_max.has_value()) {
    return Measured<LinkRate>::missing(device.pcie_generation_max.reason);
  }
  if (!device.pcie_width_max.has_value()) {
    return Measured<LinkRate>::missing(device.pcie_width_max.reason);
  }
  return measure::pcie_rate(*device.pcie_generation_max, *device.pcie_width_max, use);
}

/// The slower of both ends' links.
Measured<LinkRate> peer_rate(const LinkDevice& a, const LinkDevice& b, const std::string& path) {
  const PcieUse use =
      path == "PIX" || path == "PXB" ? PcieUse::kPeersBelowSwitch : PcieUse::kPeersAcrossComplex;
  const Measured<LinkRate> first = pcie_rate(a, use);
  const Measured<LinkRate> second = pcie_rate(b, use);
  if (!first.has_value() || !second.has_value()) return first.has_value() ? second : first;
  const bool is_first = first.value->practical_bytes_per_s <= second.value->practical_bytes_per_s;
  return is_first ? first : second;
}

Measured<LinkRate> pair_rate(const LinksInput& input, int source, int target,
                             const Measured<std::string>& path) {
  if (!path.has_value()) return Measured<LinkRate>::missing(path.reason);
  const LinkDevice& from = device_at(input, source);
  if (!path.value->starts_with("NV")) return peer_rate(from, device_at(input, target), *path);
  if (!from.compute_capability.has_value()) {
    return Measured<LinkRate>::missing(from.compute_capability.reason);
  }
  return measure::nvlink_rate(std::atoi(path.value->c_str() + 2), *from.compute_capability);
}

Measured<double> expected(const std::optional<double>& figure, double unit,
                          const std::string& why) {
  return figure ? Measured<double>(*figure * unit) : Measured<double>::missing(why);
}

LinkExpectation expectation(const LinksInput& input, const Measured<LinkRate>& rate,
                            const std::string& link_class) {
  LinkExpectation out;
  out.raw_bytes_per_s = out.practical_bytes_per_s = Measured<double>::missing(rate.reason);
  if (rate.has_value()) {
    out.raw_bytes_per_s = rate.value->raw_bytes_per_s;
    out.practical_bytes_per_s = rate.value->practical_bytes_per_s;
    out.practical_source = rate.value->source;
  }
  const auto found = input.system.links.find(link_class);
  const bool is_named = found != input.system.links.end();
  if (is_named) out.link_class = link_class;
  const SystemLink link = is_named ? found->second : SystemLink{};
  const std::string why = input.system.path.empty() ? "no system file is given"
                                                    : "the system file expects nothing of it";
  out.expected_bytes_per_s = expected(link.one_way_gb_per_s, 1e9, why);
  out.expected_both_bytes_per_s = expected(link.both_ways_gb_per_s, 1e9, why);
  out.expected_latency_s = expected(link.latency_us, 1e-6, why);
  return out;
}

}  // namespace

LinkExpectation pair_expectation(const LinksInput& input, int source, int target,
                                 const Measured<std::string>& path, const std::string& pair_class) {
  return expectation(input, pair_rate(input, source, target, path), pair_class);
}

Measured<double> expected_of_uplink(const LinksInput& input, const std::string& name) {
  const auto found = input.system.links.find("uplink");
  const bool is_drawer = name != "all" && !name.starts_with("switch ");
  if (!is_drawer || found == input.system.links.end()) {
    return Measured<double>::missing("the system file expects nothing of it");
  }
  return expected(found->second.one_way_gb_per_s, 1e9, "the system file expects nothing of it");
}

LinkExpectation host_expectation(const LinksInput& input, int device) {
  const LinkDevice& gpu = device_at(input, device);
  const bool in_chassis = gpu.attach.has_value() && *gpu.attach == "falcon";
  return expectation(input, pcie_rate(gpu, PcieUse::kHostToDevice),
                     in_chassis ? "host-F" : "host-L");
}

}  // namespace falcon::report
