#include "cli/plan_places.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"

namespace falcon::cli {
namespace {

std::string link_text(const Measured<int>& generation, const Measured<int>& width) {
  if (!generation.has_value() && !width.has_value()) return "unknown";
  return (generation.has_value() ? "Gen" + std::to_string(*generation) : "Gen?") +
         (width.has_value() ? " x" + std::to_string(*width) : "");
}

bool is_narrow(const Measured<int>& width, const Measured<int>& most) {
  return width.has_value() && most.has_value() && *width < *most;
}

std::string place_text(const GpuPlace& gpu) {
  std::string text = gpu.attach.value.value_or("place unknown");
  if (gpu.emulated) text = "EMULATED " + text;
  if (gpu.chassis.has_value()) text += " " + *gpu.chassis;
  if (gpu.drawer.has_value()) text += " drawer " + std::to_string(*gpu.drawer);
  if (gpu.host_link.has_value()) text += " link " + *gpu.host_link;
  if (gpu.slot.has_value()) text += " slot " + std::to_string(*gpu.slot);
  text += ", " + link_text(gpu.link_generation, gpu.link_width) + " of " +
          link_text(gpu.link_generation_max, gpu.link_width_max);
  if (is_narrow(gpu.link_width, gpu.link_width_max)) text += " (narrow)";
  return text + "; " + gpu.verdict + ": " + gpu.evidence;
}

void add_pairs(const Places& places, std::string& out) {
  std::map<std::string, std::pair<int, std::set<std::string>>> classes;
  std::string gap;
  for (const PairPlace& pair : places.pairs) {
    if (!pair.pair_class.has_value()) {
      gap = pair.pair_class.reason;
      continue;
    }
    auto& [count, paths] = classes[*pair.pair_class];
    ++count;
    paths.insert(pair.path.value.value_or("path unknown"));
  }
  for (const auto& [name, found] : classes) {
    const std::vector<std::string> paths(found.second.begin(), found.second.end());
    add_plan_line(out, "pairs " + name,
                  std::to_string(found.first) + " (" + base::join(paths, ", ") + ")");
  }
  if (!gap.empty()) add_plan_line(out, "pairs of unknown class", gap);
}

}  // namespace

void add_plan_line(std::string& out, const std::string& name, const std::string& text) {
  constexpr std::size_t kColumn = 28;
  const std::string padding(kColumn - std::min(kColumn, name.size()), ' ');
  out += "  ";
  out += name;
  out += padding;
  out += " " + text + "\n";
}

void add_places(const Places& places, std::string& out) {
  for (const GpuPlace& gpu : places.gpus) {
    add_plan_line(out, "place of " + gpu.name, place_text(gpu));
  }
  add_pairs(places, out);
  if (!places.order.empty()) add_plan_line(out, "ring", places.order);
  for (const SharedUplink& uplink : places.uplinks) {
    char rate[48] = "";
    if (uplink.raw_gb_per_s.has_value()) {
      std::snprintf(rate, sizeof rate, ", %.1f GB/s raw one way", *uplink.raw_gb_per_s);
    }
    add_plan_line(out, "shared uplink",
                  uplink.name + ", root port " + uplink.root_port + ", " +
                      link_text(uplink.generation, uplink.width) + " of " +
                      link_text(uplink.generation_max, uplink.width_max) + rate + ": " +
                      base::join(uplink.devices, ", "));
  }
  if (!places.storage.has_value()) return;
  const StoragePlace& storage = *places.storage;
  add_plan_line(
      out, "storage " + storage.name,
      storage.mount + ", " + storage.attach + "; " + storage.verdict + ": " + storage.evidence);
}

void add_chassis(const std::map<std::string, SystemChassis>& chassis, std::string& out) {
  for (const auto& [name, one] : chassis) {
    std::string text = one.redfish->url;
    for (const auto& [number, drawer] : one.drawers) {
      if (drawer.switch_name.empty()) continue;
      text += "; drawer " + number + ": switch " + drawer.switch_name;
      for (const auto& [link_name, link] : drawer.host_links) {
        if (!link.port.empty()) text += ", port " + link.port + " is link " + link_name;
      }
    }
    add_plan_line(out, "management of " + name, text);
  }
}

}  // namespace falcon::cli
