#include "platform/machine/host_places.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "platform/dump/lines.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

using Bridges = Measured<std::vector<std::string>>;

constexpr const char* kNotInFiles = "the files do not tell it";

// The tree that shows every port on the way to this device.
const PciTree* tree_with(const Dump& dump, const std::string& address) {
  for (const PciTree& tree : dump.trees) {
    if (tree.shows_bridge_ports && tree.find(address) != nullptr) return &tree;
  }
  return nullptr;
}

Bridges bridges_of(const Dump& dump, const std::string& address) {
  const PciTree* tree = tree_with(dump, address);
  if (tree == nullptr) return Bridges::missing("the path on PCIe is not known");
  const PciDevice* device = tree->find(address);
  if (device->root.empty()) return Bridges::missing(tree->file + " does not show the root complex");
  return device->bridges;
}

Measured<int> known(std::optional<int> value, const char* what) {
  return value ? Measured<int>(*value) : Measured<int>::missing(std::string(what) + " is not told");
}

std::optional<int> lanes(const std::optional<int>& width) {
  return width && *width > 0 ? width : std::nullopt;
}

std::optional<int> smaller(std::optional<int> a, std::optional<int> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

PcieSwitch switch_of(const PciTree& tree, const std::string& root_port,
                     const std::string& upstream) {
  PcieSwitch found;
  found.root_port = root_port;
  found.upstream = upstream;
  const PciDevice* port = tree.find(root_port);
  const PciDevice* device = tree.find(upstream);
  static const PciDevice nothing;
  if (port == nullptr) port = &nothing;
  if (device == nullptr) device = &nothing;
  if (device->vendor >= 0 && device->device >= 0) {
    char model[24];
    std::snprintf(model, sizeof model, "%04x:%04x", static_cast<unsigned>(device->vendor),
                  static_cast<unsigned>(device->device));
    found.model = model;
  }
  found.generation = pcie_generation(device->speed);
  found.generation_max = known(
      smaller(pcie_generation(device->max_speed).value, pcie_generation(port->max_speed).value),
      "the largest generation");
  found.width = known(lanes(device->width), "the width");
  found.width_max =
      known(smaller(lanes(device->max_width), lanes(port->max_width)), "the largest width");
  const bool knows_node = device->numa_node && *device->numa_node >= 0;
  found.numa_node = known(knows_node ? device->numa_node : std::nullopt, "the NUMA node");
  return found;
}

// A root port alone is no switch: the path has its upstream and its downstream port too.
void add_switch(const Dump& dump, const Bridges& bridges, Host& host) {
  if (!bridges.has_value() || bridges.value->size() < 3) return;
  const std::string& root_port = (*bridges)[0];
  const std::string& upstream = (*bridges)[1];
  const bool is_new =
      std::none_of(host.switches.begin(), host.switches.end(),
                   [&](const PcieSwitch& other) { return other.upstream == upstream; });
  if (!is_new) return;
  for (const PciTree& tree : dump.trees) {
    if (!tree.shows_bridge_ports || tree.find(upstream) == nullptr) continue;
    host.switches.push_back(switch_of(tree, root_port, upstream));
    return;
  }
}

void add_drives(const Dump& dump, Host& host) {
  host.mounts = Measured<std::vector<HostMount>>::missing("there is no /proc of the machine");
  if (!dump.sysfs) return;
  host.mounts = dump.sysfs->content.mounts;
  for (const DriveMounts& seen : dump.sysfs->content.drives) {
    NvmeDrive drive;
    drive.name = seen.controller;
    drive.pci_address = seen.address;
    drive.bridges = bridges_of(dump, seen.address);
    drive.disks = seen.disks;
    add_switch(dump, drive.bridges, host);
    host.drives.push_back(std::move(drive));
  }
}

void add_paths(const Machine& machine, const std::map<std::string, std::size_t>& index_of,
               Host& host) {
  using Paths = Measured<std::vector<std::vector<std::string>>>;
  host.gpu_paths = Paths::missing(machine.topo.reason);
  if (!machine.topo.has_value()) return;
  std::vector<std::vector<std::string>> paths;
  for (const Gpu& a : host.gpus) {
    auto& row = paths.emplace_back();
    for (const Gpu& b : host.gpus) {
      const auto i = index_of.find(a.pci_address);
      const auto j = index_of.find(b.pci_address);
      if (i == index_of.end() || j == index_of.end()) {
        host.gpu_paths = Paths::missing("not every GPU was found on PCI");
        return;
      }
      row.push_back((*machine.topo)[i->second][j->second]);
    }
  }
  host.gpu_paths = std::move(paths);
}

std::string uuid_of(const Dump& dump, const std::string& address) {
  for (const auto& csv : dump.csv) {
    for (const CsvGpu& gpu : csv.content) {
      if (!gpu.uuid.empty() && normal_pci_address(gpu.bus_id) == address) return gpu.uuid;
    }
  }
  for (const auto& report : dump.reports) {
    for (const SmiGpu& gpu : report.content.gpus) {
      if (!says_nothing(gpu.uuid) && normal_pci_address(gpu.bus_id) == address) return *gpu.uuid;
    }
  }
  return "";
}

Gpu gpu_of(const MachineGpu& seen, const Dump& dump) {
  Gpu gpu;
  gpu.uuid = uuid_of(dump, seen.address);
  gpu.pci_address = seen.address;
  gpu.name = seen.name.empty() ? "unknown GPU" : seen.name;
  gpu.memory_bytes = gpu.memory_used_bytes = Measured<std::int64_t>::missing(kNotInFiles);
  gpu.numa_node = seen.numa_node;
  gpu.compute_capability = Measured<std::string>::missing(kNotInFiles);
  gpu.pcie_generation = seen.gen_cur;
  gpu.pcie_generation_max = seen.gen_max;
  gpu.pcie_width = seen.width_cur;
  gpu.pcie_width_max = seen.width_max;
  gpu.power_limit_w = seen.power_limit_w;
  gpu.cuda_ordinal = Measured<int>::missing("another machine");
  return gpu;
}

void add_processors(const Machine& machine, Host& host) {
  host.numa_nodes = machine.numa_nodes;
  for (const NumaNode& node : machine.numa_nodes) {
    host.cpu.allowed.insert(host.cpu.allowed.end(), node.cpus.begin(), node.cpus.end());
  }
  std::sort(host.cpu.allowed.begin(), host.cpu.allowed.end());
  host.cpu.logical = static_cast<int>(host.cpu.allowed.size());
  host.cpu.usable = std::max(1, host.cpu.logical);
  host.cpu.model = Measured<std::string>::missing(kNotInFiles);
  host.cpu.sockets = host.cpu.cores = Measured<int>::missing(kNotInFiles);
  host.cpu.quota_cpus = Measured<double>::missing(kNotInFiles);
}

}  // namespace

void add_places(const Machine& machine, const Dump& dump, Host& host) {
  std::map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) index_of[machine.gpus[i].address] = i;
  const Measured<std::vector<int>>& links = machine.nvlink.links_per_gpu;
  for (Gpu& gpu : host.gpus) {
    gpu.bridges = bridges_of(dump, gpu.pci_address);
    add_switch(dump, gpu.bridges, host);
    gpu.nvlinks = Measured<int>::missing(links.reason);
    const auto found = index_of.find(gpu.pci_address);
    if (links.has_value() && found != index_of.end()) gpu.nvlinks = (*links)[found->second];
  }
  add_drives(dump, host);
  add_paths(machine, index_of, host);
  std::stable_sort(host.switches.begin(), host.switches.end(),
                   [](const PcieSwitch& a, const PcieSwitch& b) {
                     return is_before_on_pci(a.root_port, b.root_port);
                   });
  host.virtual_machine = Measured<std::string>::missing("no sign of a virtual machine");
  if (machine.is_guest.has_value()) host.virtual_machine = machine.hypervisor.value.value_or("");
}

Host host_of(const Machine& machine, const Dump& dump, const std::string& name) {
  Host host;
  host.hostname = name;
  host.os = host.kernel = Measured<std::string>::missing(kNotInFiles);
  host.container = machine.container;
  host.memory_bytes = host.memory_limit_bytes = host.shared_memory_bytes =
      Measured<std::int64_t>::missing(kNotInFiles);
  host.driver = machine.driver;
  host.driver_cuda = machine.cuda;
  add_processors(machine, host);
  for (const MachineGpu& seen : machine.gpus) {
    if (seen.address.empty()) {
      host.notes = {"GPUs without a known PCI address are left out"};
    } else {
      host.gpus.push_back(gpu_of(seen, dump));
    }
  }
  std::stable_sort(host.gpus.begin(), host.gpus.end(), [](const Gpu& a, const Gpu& b) {
    return is_before_on_pci(a.pci_address, b.pci_address);
  });
  add_places(machine, dump, host);
  return host;
}

}  // namespace falcon::platform
