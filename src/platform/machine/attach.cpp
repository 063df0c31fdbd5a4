#include "platform/machine/attach.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace falcon::platform {
namespace {

using Text = Measured<std::string>;

// The switch next to the root complex: its root port and the first bridge below it.
std::optional<std::pair<std::string, std::string>> outer_switch(const PciDevice& device) {
  if (device.bridges.size() < 3) return {};  // a root port alone is no switch
  return std::pair(device.bridges[0], device.bridges[1]);
}

std::optional<int> width_of(const PciDevice* device) {
  return device != nullptr && device->width && *device->width > 0 ? device->width : std::nullopt;
}

HostLink host_link(const PciTree& tree, int drawer,
                   const std::pair<std::string, std::string>& place) {
  HostLink link;
  link.drawer = drawer;
  link.root_port = place.first;
  link.switch_upstream = place.second;
  const PciDevice* upstream = tree.find(place.second);
  link.gen = pcie_generation(upstream != nullptr ? upstream->speed : "");
  if (const auto width = width_of(upstream)) {
    link.width = *width;
  } else {
    link.width = Measured<int>::missing("no link width is given");
  }
  if (upstream != nullptr && upstream->numa_node && *upstream->numa_node >= 0) {
    link.numa_node = *upstream->numa_node;
  } else {
    link.numa_node = Measured<int>::missing("no NUMA node is given");
  }
  return link;
}

void leave_open(Machine& machine, const std::string& why) {
  for (MachineGpu& gpu : machine.gpus) {
    gpu.place = Text::missing(why);
    gpu.drawer = Measured<int>::missing(why);
  }
}

}  // namespace

void propose_places(const Dump& dump, Machine& machine) {
  const PciTree* tree = best_tree(machine, dump);
  const Measured<std::vector<int>>& links = machine.nvlink.links_per_gpu;
  if (tree == nullptr || !tree->shows_bridge_ports) {
    return leave_open(machine, "the path of the GPUs on PCIe is not known");
  }
  if (!links.has_value()) return leave_open(machine, links.reason);
  const bool has_board_gpus =
      std::any_of(links.value->begin(), links.value->end(), [](int count) { return count > 0; });
  if (!has_board_gpus) {
    return leave_open(machine,
                      "a switch on the board and one in a chassis look alike; name the "
                      "chassis in a system file");
  }
  std::map<std::string, bool> is_board_switch;  // by root port
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const PciDevice* device = tree->find(machine.gpus[i].address);
    if (const auto place = outer_switch(*device)) is_board_switch[place->first] |= (*links)[i] > 0;
  }
  std::map<std::string, int> drawers;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    MachineGpu& gpu = machine.gpus[i];
    const auto place = outer_switch(*tree->find(gpu.address));
    if (!place || is_board_switch[place->first]) {
      gpu.place = std::string("local");
      gpu.drawer = Measured<int>::missing("not in a chassis");
      continue;
    }
    const auto [drawer, is_new] =
        drawers.emplace(place->first, static_cast<int>(drawers.size()) + 1);
    if (is_new) machine.host_links.push_back(host_link(*tree, drawer->second, *place));
    gpu.place = std::string("falcon");
    gpu.drawer = drawer->second;
  }
}

Text place_of(const Machine& machine, const PciDevice& device) {
  for (const HostLink& link : machine.host_links) {
    if (!device.bridges.empty() && device.bridges.front() == link.root_port) {
      return "falcon drawer " + std::to_string(link.drawer);
    }
  }
  if (machine.gpus.empty()) return Text::missing("there is no GPU to compare with");
  if (!machine.gpus.front().place.has_value()) return machine.gpus.front().place;
  return std::string("local");
}

}  // namespace falcon::platform
