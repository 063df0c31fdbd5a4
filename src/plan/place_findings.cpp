// What stands out in the places of a run, before anything is started.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "plan/places.h"

namespace falcon::plan {
namespace {

Finding warning(const char* id, std::string message, std::string evidence, std::string advice) {
  return {id, "warning", std::move(message), std::move(evidence), std::move(advice)};
}

bool is_here(const Host& host, const SystemGpu& declared) {
  return std::any_of(host.gpus.begin(), host.gpus.end(), [&](const Gpu& gpu) {
    const bool has_uuid = !declared.uuid.empty() && !gpu.uuid.empty();
    return has_uuid ? gpu.uuid == declared.uuid
                    : !declared.pci_address.empty() && gpu.pci_address == declared.pci_address;
  });
}

bool is_lent(const Host& host, const SystemFile& system, const SystemGpu& gpu) {
  const SystemHostLink* link = system.link_of(gpu);
  return link != nullptr && !link->host.empty() && link->host != host.hostname;
}

void find_missing_gpus(const Host& host, const SystemFile& system, std::vector<Finding>& out) {
  std::map<std::string, std::pair<int, std::vector<std::string>>> drawers;  // declared, missing
  for (const std::string& name : system.ordered_gpus()) {
    const SystemGpu& gpu = system.gpus.at(name);
    if (gpu.attach != "falcon" || !gpu.drawer || is_lent(host, system, gpu)) continue;
    auto& [declared, missing] = drawers["drawer " + std::to_string(*gpu.drawer) +
                                        (gpu.chassis.empty() ? "" : " of " + gpu.chassis)];
    ++declared;
    if (!is_here(host, gpu)) missing.push_back(name);
  }
  for (const auto& [drawer, counts] : drawers) {
    const auto& [declared, missing] = counts;
    if (missing.empty()) continue;
    const int seen = declared - static_cast<int>(missing.size());
    out.push_back(warning("drawer_incomplete", drawer + " has fewer GPUs than declared",
                          std::to_string(seen) + " of " + std::to_string(declared) +
                              "; missing: " + base::join(missing, ", "),
                          seen == 0
                              ? "is it unplugged, powered off or lent to another host?"
                              : "look at the board and its slot, or correct the system file"));
  }
}

bool is_below(const Measured<int>& now, const Measured<int>& most) {
  return now.has_value() && most.has_value() && *now < *most;
}

std::string link_text(const Measured<int>& generation, const Measured<int>& width) {
  return (generation.has_value() ? "Gen" + std::to_string(*generation) : "unknown") +
         (width.has_value() ? " x" + std::to_string(*width) : "");
}

// A host link, unlike a GPU's, does not slow down while it is idle: boards behind it keep it up.
void find_weak_uplinks(const Places& places, const Host& host, std::vector<Finding>& out) {
  std::set<std::string> used;
  for (const GpuPlace& gpu : places.gpus) {
    if (gpu.upstream.has_value()) used.insert(*gpu.upstream);
  }
  for (const PcieSwitch& one : host.switches) {
    if (!used.contains(one.upstream) || !is_below(one.width, one.width_max)) continue;
    out.push_back(
        warning("host_link_degraded",
                "the link between the host and the switch at " + one.upstream +
                    " is narrower than both ends can",
                link_text(one.generation, one.width) + " of " +
                    link_text(one.generation_max, one.width_max) + " at root port " + one.root_port,
                "look at the cable and its plugs; everything behind the switch shares this link"));
  }
}

void find_narrow_gpus(const Places& places, std::vector<Finding>& out) {
  for (const GpuPlace& gpu : places.gpus) {
    if (!is_below(gpu.link_width, gpu.link_width_max)) continue;
    out.push_back(warning(
        "pcie_link_degraded",
        "the PCIe link of GPU " + gpu.pci_address + " is narrower than it can be",
        "x" + std::to_string(*gpu.link_width) + " of x" + std::to_string(*gpu.link_width_max),
        "reseat the board or cable; look at the slot's wiring"));
  }
}

void find_shared_uplinks(const Places& places, std::vector<Finding>& out) {
  for (const SharedUplink& uplink : places.uplinks) {
    char rate[48] = "";
    if (uplink.raw_gb_per_s.has_value()) {
      std::snprintf(rate, sizeof rate, ", %.1f GB/s raw one way", *uplink.raw_gb_per_s);
    }
    out.push_back({"uplink_shared", "info",
                   std::to_string(uplink.devices.size()) + " devices share the link of " +
                       uplink.name + " to the host",
                   base::join(uplink.devices, ", ") + " on " +
                       link_text(uplink.generation, uplink.width) + rate,
                   "copies between these GPUs and the host compete; those among them do not"});
  }
}

}  // namespace

std::vector<Finding> find_in_places(const Places& places, const Host& host,
                                    const SystemFile& system) {
  std::vector<Finding> findings;
  if (!places.gpus.empty()) find_missing_gpus(host, system, findings);
  find_narrow_gpus(places, findings);
  find_weak_uplinks(places, host, findings);
  find_shared_uplinks(places, findings);
  return findings;
}

}  // namespace falcon::plan
