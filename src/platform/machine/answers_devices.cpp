#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "platform/dump/lines.h"
#include "platform/machine/answers_parts.h"
#include "platform/machine/attach.h"
#include "platform/machine/pair_classes.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

using base::Value;
using Devices = std::vector<const PciDevice*>;

// NCCL's topology has GPUs, network cards and switches only.
const PciTree* tree_of_all_kinds(const Dump& dump) {
  for (const PciTree& tree : dump.trees) {
    if (tree.shows_bridge_ports && tree.tells_kinds && !tree.devices.empty()) return &tree;
  }
  return nullptr;
}

std::string nic_name(const PciTree& tree, const PciDevice& nic) {
  static constexpr std::array<std::string_view, 6> kFabrics = {"mlx", "bnxt_re", "efa",
                                                               "hfi", "irdma",   "rdmap"};
  for (const std::string& name : nic.os_devices) {
    const bool is_fabric =
        std::any_of(kFabrics.begin(), kFabrics.end(),
                    [&](std::string_view start) { return name.starts_with(start); });
    if (is_fabric || tree.source == TreeSource::kNccl) return name;
  }
  return nic.address;
}

// Class to each GPU; null where it is unknown.
Value classes_to_gpus(const Machine& machine, const PciTree& tree, const PciDevice& device) {
  Value classes = Value::list();
  for (const MachineGpu& gpu : machine.gpus) {
    const PciDevice* other = tree.find(gpu.address);
    const Measured<std::string> found =
        other == nullptr ? Measured<std::string>::missing("") : pair_class(tree, device, *other);
    classes.push_back(to_value(found.value));
  }
  return classes;
}

// "0000:65:00.0" -> "65"
std::string bus_of(const std::string& address) {
  const std::size_t colon = address.find(':');
  return address.substr(colon + 1, address.rfind(':') - colon - 1);
}

// The switch next to the device; "" on a root port.
std::string inner_switch(const PciDevice& device) {
  return device.bridges.size() < 3 ? "" : device.bridges[device.bridges.size() - 2];
}

// Of a tree of lspci, which names no devices of the kernel: where the drives are plugged.
Value drives_by_place(const PciTree& tree, const Devices& drives) {
  Value out = Value::object();
  out.set("count", static_cast<int>(drives.size()));
  Value direct = Value::list();
  std::map<std::string, Value> behind;
  std::map<std::string, Value> inner;
  std::set<std::string> across;
  for (const PciDevice* drive : drives) {
    const std::string place = inner_switch(*drive);
    if (place.empty()) {
      direct.push_back(drive->address);
      continue;
    }
    Value& list = behind.emplace(drive->bridges.front(), Value::list()).first->second;
    list.push_back(drive->address);
    inner.emplace(place, Value::list()).first->second.push_back(bus_of(drive->address));
    for (const PciDevice* other : drives) {
      if (inner_switch(*other).empty() || inner_switch(*other) == place) continue;
      if (other->bridges.front() != drive->bridges.front()) continue;
      across.insert(pair_class(tree, *drive, *other).value.value_or("unknown"));
    }
  }
  out.set("direct", std::move(direct));
  for (auto& [port, list] : behind) out.set("behind_switch_root_port_" + port, std::move(list));
  Value groups = Value::list();
  for (auto& [place, group] : inner) {
    if (group.as_list().size() > 1) groups.push_back(std::move(group));
  }
  out.set("same_inner_switch_PIX_groups", std::move(groups));
  out.set("across_inner_switches", across.size() == 1 ? Value(*across.begin()) : Value());
  std::vector<std::string> raid;
  for (const PciDevice* device : tree.of_kind(DeviceKind::kRaid)) {
    raid.push_back(bus_of(device->address));
  }
  const std::string verb = raid.size() == 1 ? " is a RAID controller" : " are RAID controllers";
  out.set("not_nvme",
          raid.empty() ? Value() : Value(base::join(raid, ", ") + verb + ", not drives"));
  return out;
}

Value drive_value(const Machine& machine, const Dump& dump, const PciTree& tree,
                  const PciDevice& device) {
  Value out = Value::object();
  const DriveMounts* mounts = nullptr;
  if (dump.sysfs) {
    for (const DriveMounts& one : dump.sysfs->content.drives) {
      if (one.address == device.address) mounts = &one;
    }
  }
  const auto named = std::find_if(device.os_devices.begin(), device.os_devices.end(),
                                  [](const std::string& one) { return one.starts_with("nvme"); });
  Value name = named == device.os_devices.end() ? Value() : Value(*named);
  if (mounts != nullptr) name = mounts->controller;
  out.set("name", std::move(name));
  out.set("busid", device.address);
  put(out, "place", place_of(machine, device));
  out.set("numa", device.numa_node ? Value(*device.numa_node) : Value());
  out.set("pci_path", to_value(pci_path_of(device)));
  if (mounts != nullptr) {
    out.set("disks", to_value(mounts->disks));
    put(out, "mounts", mounts->mounts);
  }
  if (tree.source == TreeSource::kHwloc) {
    out.set("numa_nodes", to_value(device.numa_nodes));
    out.set("osdev", to_value(device.os_devices));
    out.set("hwloc_link_GBps", to_value(device.link_gb_per_s));
  }
  return out;
}

std::string hexadecimal(int number, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x", digits, static_cast<unsigned>(number));
  return text;
}

Value accelerator_value(const PciDevice& device) {
  Value out = Value::object();
  out.set("busid", device.address);
  out.set("class_", device.class_code < 0 ? Value() : Value(hexadecimal(device.class_code, 6)));
  out.set("vendor", device.vendor < 0 ? Value() : Value(hexadecimal(device.vendor, 4)));
  out.set("root_port", device.bridges.empty() ? Value() : Value(device.bridges.front()));
  out.set("switch_upstream", device.bridges.size() < 3 ? Value() : Value(device.bridges[1]));
  return out;
}

// "NODE (numa_node is 0 for all)": the class, and what it rests on.
std::string class_across(const std::set<std::string>& classes, const Devices& devices) {
  std::string text = base::join(std::vector<std::string>(classes.begin(), classes.end()), ", ");
  const auto node = devices.front()->numa_node;
  const bool is_same = std::all_of(devices.begin(), devices.end(), [&](const PciDevice* device) {
    return device->numa_node == node;
  });
  if (is_same && node) text += " (numa_node is " + std::to_string(*node) + " for all)";
  return text;
}

void put_accelerators(const PciTree& tree, Value& out) {
  const Devices devices = tree.of_kind(DeviceKind::kAccelerator);
  std::map<std::string, Value> groups;  // by the switch next to the root port
  std::set<std::string> within;
  std::set<std::string> across;
  Value list = Value::list();
  for (const PciDevice* a : devices) {
    list.push_back(accelerator_value(*a));
    if (a->bridges.size() < 3) continue;
    groups.emplace(a->bridges[1], Value::list()).first->second.push_back(a->address);
    for (const PciDevice* b : devices) {
      if (a == b || b->bridges.size() < 3) continue;
      const bool is_same = a->bridges[1] == b->bridges[1];
      (is_same ? within : across).insert(pair_class(tree, *a, *b).value.value_or("unknown"));
    }
  }
  out.set("accelerators", std::move(list));
  Value all = Value::list();
  for (auto& [place, group] : groups) {
    if (group.as_list().size() > 1) all.push_back(std::move(group));
  }
  out.set("accelerator_groups_same_switch", std::move(all));
  const std::string why = "there are no two such groups of accelerators";
  out.set("within_group", within.size() == 1 ? Value(*within.begin()) : Value());
  if (within.empty()) out.set("within_group_reason", why);
  out.set("across_groups", across.empty() ? Value() : Value(class_across(across, devices)));
  if (across.empty()) out.set("across_groups_reason", why);
}

const char* kind_name(DeviceKind kind) {
  static constexpr std::array<const char*, 9> kNames = {
      "other", "bridge", "gpu", "nvswitch", "display", "accelerator", "nvme", "raid", "nic"};
  return kNames.at(static_cast<std::size_t>(kind));
}

// Every device whose link is told.
void put_pci_links(const PciTree& tree, Value& out) {
  Value links = Value::list();
  for (const PciDevice& device : tree.devices) {
    if (device.speed.empty() && !device.width && !device.link_gb_per_s) continue;
    Value one = Value::object();
    one.set("busid", device.address);
    one.set("kind", kind_name(device.kind));
    one.set("speed", device.speed.empty() ? Value() : Value(device.speed));
    one.set("width", to_value(device.width));
    one.set("max_speed", device.max_speed.empty() ? Value() : Value(device.max_speed));
    one.set("max_width", to_value(device.max_width));
    one.set("GBps", to_value(device.link_gb_per_s));
    links.push_back(std::move(one));
  }
  if (links.as_list().empty()) {
    put_missing(out, "pci_links", "no file tells the links");
  } else {
    out.set("pci_links", std::move(links));
  }
}

void put_displays(const PciTree& tree, Value& out) {
  std::vector<std::string> displays;
  for (const PciDevice* device : tree.of_kind(DeviceKind::kDisplay)) {
    char numbers[32] = "";
    if (device->vendor >= 0 && device->device >= 0) {
      std::snprintf(numbers, sizeof numbers, " (%04x:%04x)", static_cast<unsigned>(device->vendor),
                    static_cast<unsigned>(device->device));
    }
    displays.push_back(device->address + numbers);
  }
  if (displays.empty()) {
    put_missing(out, "vga_not_gpu", "there is no VGA controller of another vendor");
  } else {
    out.set("vga_not_gpu", base::join(displays, ", "));
  }
}

// From the PCI tree, else from NCCL's links.
void put_nvswitches(const Machine& machine, const Dump& dump, Value& out) {
  std::vector<std::string> found;
  bool is_hidden = false;
  for (const PciTree& tree : dump.trees) {
    for (const PciDevice* device : tree.of_kind(DeviceKind::kNvSwitch))
      found.push_back(device->address);
    for (const NvlinkTarget& link : tree.nvlink) {
      const bool is_address = normal_pci_address(link.target) == link.target;
      if (link.is_switch && is_address) found.push_back(link.target);
      is_hidden = is_hidden || (link.is_switch && !is_address);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (!found.empty() ||
      (tree_of_all_kinds(dump) != nullptr && !is_hidden && !machine.is_guest.has_value())) {
    out.set("nvswitches", to_value(found));
  } else {
    put_missing(out, "nvswitches",
                is_hidden || machine.is_guest.has_value() ? "a virtual machine may hide them"
                                                          : "no file shows the PCI tree");
  }
}

}  // namespace

void put_nics(const Machine& machine, const Dump& dump, Value& out) {
  const PciTree* tree = best_tree(machine, dump);
  if (tree != nullptr && !tree->tells_kinds) tree = nullptr;
  Value names = Value::list();
  Value to_gpu = Value::object();
  Value relation = Value::object();
  for (const PciDevice* nic : tree == nullptr ? Devices() : tree->of_kind(DeviceKind::kNic)) {
    const std::string name = nic_name(*tree, *nic);
    Value classes = classes_to_gpus(machine, *tree, *nic);
    Value row = Value::object();
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
      row.set("GPU" + std::to_string(i), classes.as_list()[i]);
    }
    names.push_back(name);
    relation.set(name, std::move(row));
    to_gpu.set(name, std::move(classes));
  }
  if (tree == nullptr) {
    put_missing(out, "nic_to_gpu", "no file shows the network cards on PCIe");
  } else {
    out.set("nic_to_gpu", std::move(to_gpu));
  }
  if (const TopoMatrix* topo = any_topo_of_all(machine, dump)) {
    out.set("nics", to_value(topo->nics));
    out.set("nic_relation", nic_relation_of(*topo));
  } else if (tree != nullptr) {
    out.set("nics", std::move(names));
    out.set("nic_relation", std::move(relation));
  } else {
    put_missing(out, "nics", "no file tells the network cards");
    put_missing(out, "nic_relation", "no file tells the network cards");
  }
}

void put_drives(const Machine& machine, const Dump& dump, Value& out) {
  const PciTree* tree = tree_of_all_kinds(dump);
  if (tree == nullptr) {
    put_missing(out, "nvme", "no file shows the drives");
    return;
  }
  const Devices drives = tree->of_kind(DeviceKind::kNvme);
  if (tree->source == TreeSource::kLspci) {
    out.set("nvme", drives_by_place(*tree, drives));
    return;
  }
  Value list = Value::list();
  for (const PciDevice* drive : drives) list.push_back(drive_value(machine, dump, *tree, *drive));
  // In the order of the kernel's names, as people know them.
  std::stable_sort(list.as_list().begin(), list.as_list().end(),
                   [](const Value& a, const Value& b) {
                     const Value& left = *a.find("name");
                     const Value& right = *b.find("name");
                     return left.is_text() && right.is_text() && left.as_text() < right.as_text();
                   });
  out.set("nvme", std::move(list));
  if (dump.sysfs) out.set("mounts_unknown", to_value(dump.sysfs->content.unknown_mounts));
}

void put_other_devices(const Machine& machine, const Dump& dump, Value& out) {
  put_nvswitches(machine, dump, out);
  const PciTree* tree = tree_of_all_kinds(dump);
  if (tree != nullptr) {
    put_accelerators(*tree, out);
    put_displays(*tree, out);
    put_pci_links(*tree, out);
    return;
  }
  for (const char* name : {"accelerators", "accelerator_groups_same_switch", "within_group",
                           "across_groups", "vga_not_gpu", "pci_links"}) {
    put_missing(out, name, "no file shows the PCI tree");
  }
}

}  // namespace falcon::platform
