#include "cli/links_places.h"

#include <set>

#include "platform/access_control.h"
#include "platform/dump/dump.h"
#include "platform/machine/machine.h"
#include "platform/root.h"

namespace falcon::cli {
namespace {

using Text = Measured<std::string>;

const SystemGpu* declared(const SystemFile& system, const Gpu& gpu) {
  for (const auto& [name, entry] : system.gpus) {
    const bool is_it =
        entry.uuid.empty() ? entry.pci_address == gpu.pci_address : entry.uuid == gpu.uuid;
    if (is_it) return &entry;
  }
  return nullptr;
}

LinkDevice make_device(int index, const plan::Placement& placement, const SystemFile& system) {
  const auto at = static_cast<std::size_t>(index);
  const DevicePlan& planned = placement.devices[at];
  LinkDevice device;
  device.index = index;
  device.name = placement.on_gpu() ? placement.names[at] : "cpu" + std::to_string(index);
  device.kind = planned.kind;
  device.uuid = planned.uuid;
  device.pci_address = planned.pci_address;
  device.product = planned.name;
  const SystemGpu* entry = placement.on_gpu() ? declared(system, *placement.gpus[at]) : nullptr;
  const std::string why = "no system file says it";
  device.attach = device.chassis = Text::missing(why);
  device.drawer = Measured<std::int64_t>::missing(why);
  if (entry != nullptr) device.attach = entry->attach;
  if (entry != nullptr && !entry->chassis.empty()) device.chassis = entry->chassis;
  if (entry != nullptr && entry->drawer) device.drawer = *entry->drawer;
  const Measured<int> none = Measured<int>::missing("the device is no GPU");
  device.numa_node = placement.on_gpu() ? placement.gpus[at]->numa_node : none;
  device.pcie_generation_max = placement.on_gpu() ? placement.gpus[at]->pcie_generation_max : none;
  device.pcie_width_max = placement.on_gpu() ? placement.gpus[at]->pcie_width_max : none;
  return device;
}

/// The number of a GPU in the joined machine.
std::size_t number_of(const platform::Machine& machine, const std::string& address) {
  std::size_t at = 0;
  while (at < machine.gpus.size() && machine.gpus[at].address != address) ++at;
  return at;
}

Text path_between(const platform::Machine& machine, const std::string& a, const std::string& b) {
  if (!machine.topo.has_value()) return Text::missing(machine.topo.reason);
  const std::size_t i = number_of(machine, a);
  const std::size_t j = number_of(machine, b);
  if (i >= machine.topo.value->size() || j >= machine.topo.value->size()) {
    return Text::missing("the GPU is not in the matrix of paths");
  }
  return (*machine.topo)[i][j];
}

}  // namespace

void find_link_places(const plan::Placement& placement, const platform::Nvml& nvml,
                      report::LinksInput& input) {
  const std::size_t count = placement.devices.size();
  const Text unknown = Text::missing("the devices are no GPUs");
  input.paths.assign(count, std::vector<Text>(count, unknown));
  input.pair_classes = input.paths;
  input.acs_bridges = Measured<std::vector<std::string>>::missing(unknown.reason);
  for (std::size_t i = 0; i < count; ++i) {
    input.devices.push_back(make_device(static_cast<int>(i), placement, input.system));
    const bool is_known = placement.on_gpu() && placement.gpus[i]->compute_capability.has_value();
    input.compute_capabilities.push_back(is_known ? *placement.gpus[i]->compute_capability : "");
  }
  if (!placement.on_gpu()) return;
  const platform::Root root;
  const platform::Dump dump = platform::read_this_host(root, input.host, nvml);
  const platform::Machine machine = platform::make_machine(dump);
  const platform::PciTree* tree = platform::best_tree(machine, dump);
  std::set<std::string> bridges;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      input.paths[i][j] =
          path_between(machine, placement.devices[i].pci_address, placement.devices[j].pci_address);
    }
    const platform::PciDevice* device =
        tree == nullptr ? nullptr : tree->find(placement.devices[i].pci_address);
    if (device != nullptr) bridges.insert(device->bridges.begin(), device->bridges.end());
  }
  input.acs_bridges = platform::redirecting_bridges(root, {bridges.begin(), bridges.end()});
}

}  // namespace falcon::cli
