#include "platform/machine/pci_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace falcon::platform {
namespace {

using Class = Measured<std::string>;

constexpr int kNvidia = 0x10de;
constexpr int kAmd = 0x1002;

std::size_t common_bridges(const PciDevice& a, const PciDevice& b) {
  const auto [end, other] =
      std::mismatch(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  return static_cast<std::size_t>(end - a.bridges.begin());
}

std::optional<std::vector<int>> nodes_of(const PciDevice& device) {
  if (!device.numa_nodes.empty()) return device.numa_nodes;
  if (device.numa_node.has_value() && *device.numa_node >= 0) {
    return std::vector<int>{*device.numa_node};
  }
  return {};
}

// Of devices that share nothing on PCI.
Class class_by_node(const PciTree& tree, const PciDevice& a, const PciDevice& b,
                    const char* same_node) {
  if (tree.numa_nodes.size() == 1) return std::string(same_node);
  const auto first = nodes_of(a);
  const auto second = nodes_of(b);
  if (!first || !second) {
    return Class::missing(std::string(source_name(tree.source)) +
                          " does not tell the NUMA node of " + (first ? b.address : a.address));
  }
  const bool is_disjoint = std::none_of(first->begin(), first->end(), [&](int node) {
    return std::find(second->begin(), second->end(), node) != second->end();
  });
  if (is_disjoint) return std::string("SYS");
  if (*first == *second && first->size() == 1) return std::string(same_node);
  return Class::missing("more than one NUMA node is near to " + a.address + " or " + b.address);
}

}  // namespace

const char* source_name(TreeSource source) {
  static constexpr std::array<const char*, 4> kNames = {"sysfs", "lspci", "hwloc",
                                                        "NCCL's topology"};
  return kNames.at(static_cast<std::size_t>(source));
}

const PciDevice* PciTree::find(std::string_view address) const {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const PciDevice& device) {
    return device.address == address;
  });
  return found == devices.end() ? nullptr : &*found;
}

std::vector<const PciDevice*> PciTree::of_kind(DeviceKind kind) const {
  std::vector<const PciDevice*> found;
  for (const PciDevice& device : devices) {
    if (device.kind == kind) found.push_back(&device);
  }
  return found;
}

DeviceKind kind_of(int class_code, int vendor) {
  const int main_class = class_code >> 16;
  const int sub_class = class_code >> 8;
  if (class_code < 0) return DeviceKind::kOther;
  if (sub_class == 0x0604) return DeviceKind::kBridge;
  if (sub_class == 0x0680 && vendor == kNvidia) return DeviceKind::kNvSwitch;
  if (sub_class == 0x0300 || sub_class == 0x0302) {
    if (vendor == kNvidia) return DeviceKind::kGpu;
    return sub_class == 0x0300 ? DeviceKind::kDisplay : DeviceKind::kAccelerator;
  }
  // Instinct boards call themselves display controllers, as graphics inside of CPUs do.
  if (sub_class == 0x0380 && vendor == kAmd) return DeviceKind::kAccelerator;
  if (main_class == 0x12 || sub_class == 0x0b40) return DeviceKind::kAccelerator;
  if (sub_class == 0x0108) return DeviceKind::kNvme;
  if (sub_class == 0x0104) return DeviceKind::kRaid;
  if (sub_class == 0x0200 || sub_class == 0x0207) return DeviceKind::kNic;
  return DeviceKind::kOther;
}

bool are_apart(const PciTree& tree, const PciDevice& a, const PciDevice& b) {
  if (!tree.shows_bridge_ports) return common_bridges(a, b) == 0;
  return !a.root.empty() && !b.root.empty() && a.root != b.root;
}

Class pair_class(const PciTree& tree, const PciDevice& a, const PciDevice& b) {
  const std::size_t common = common_bridges(a, b);
  if (tree.shows_bridge_ports) {
    if (a.root.empty() || b.root.empty()) {
      // Devices of different NUMA nodes have different root complexes.
      Class by_node = class_by_node(tree, a, b, "NODE");
      if (by_node.value == "SYS") return by_node;
      return Class::missing(std::string(source_name(tree.source)) +
                            " does not show the root complex");
    }
    if (a.root != b.root) return class_by_node(tree, a, b, "NODE");
    if (common == 0) return std::string("PHB");
  } else if (common == 0) {
    return class_by_node(tree, a, b, "PHB*");
  }
  // NCCL writes a switch as one entry, not as its upstream and downstream ports.
  const std::size_t ports = tree.shows_bridge_ports ? 1 : 0;
  const bool is_near = a.bridges.size() - common <= ports && b.bridges.size() - common <= ports;
  return std::string(is_near ? "PIX" : "PXB");
}

Measured<int> pcie_generation(std::string_view speed) {
  static constexpr std::array<std::pair<double, int>, 6> kSpeeds = {
      {{2.5, 1}, {5, 2}, {8, 3}, {16, 4}, {32, 5}, {64, 6}}};
  const std::string_view text = base::trim(speed);
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  const std::string_view unit =
      base::trim(text.substr(static_cast<std::size_t>(end - text.data())));
  if (error == std::errc() && unit.starts_with("GT/s")) {
    for (const auto& [known, generation] : kSpeeds) {
      if (rate == known) return generation;
    }
  }
  return Measured<int>::missing(text.empty() ? "no link speed is given"
                                             : base::printable(text) + " is no link speed");
}

}  // namespace falcon::platform
