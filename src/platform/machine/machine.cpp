#include "platform/machine/machine.h"

#include <algorithm>
#include <set>
#include <utility>

#include "platform/dump/lines.h"
#include "platform/machine/attach.h"
#include "platform/machine/findings.h"
#include "platform/machine/links.h"
#include "platform/machine/nvlink.h"
#include "platform/machine/pair_classes.h"
#include "platform/machine/roster.h"

namespace falcon::platform {
namespace {

using Text = Measured<std::string>;

std::vector<NumaNode> numa_nodes_of(const Dump& dump) {
  if (dump.sysfs && !dump.sysfs->content.nodes.empty()) return dump.sysfs->content.nodes;
  std::vector<NumaNode> nodes;
  const auto add = [&nodes](int id, const std::vector<int>& cpus, std::int64_t memory) {
    NumaNode node;
    node.id = id;
    node.cpus = cpus;
    node.memory_bytes = memory > 0 ? Measured<std::int64_t>(memory)
                                   : Measured<std::int64_t>::missing("no file tells it");
    nodes.push_back(std::move(node));
  };
  if (dump.hwloc_nodes) {
    for (const HwlocNode& node : dump.hwloc_nodes->content) {
      add(node.id, node.cpus, node.memory_bytes);
    }
  } else if (dump.numactl) {
    for (const NumactlNode& node : dump.numactl->content) {
      add(node.id, node.cpus, node.memory_bytes.value_or(0));
    }
  } else if (dump.cpu_listing) {
    for (const auto& [id, cpus] : dump.cpu_listing->content.nodes) {
      add(id, parse_cpu_list(cpus).value.value_or(std::vector<int>()), 0);
    }
  }
  return nodes;
}

// What all reports say alike.
Text common(const std::vector<std::string>& said, const char* what) {
  const std::set<std::string> different(said.begin(), said.end());
  if (different.size() == 1) return *different.begin();
  return Text::missing(different.empty() ? std::string("no file tells ") + what
                                         : "the files tell different ones");
}

void join_versions(const Dump& dump, Machine& machine) {
  std::vector<std::string> drivers;
  std::vector<std::string> versions;
  const auto add = [](std::vector<std::string>& list, const Printed& text) {
    if (!says_nothing(text)) list.push_back(*text);
  };
  for (const auto& report : dump.reports) {
    add(drivers, report.content.driver);
    add(versions, report.content.cuda);
  }
  if (dump.table) {
    add(drivers, dump.table->content.driver);
    add(versions, dump.table->content.cuda);
  }
  if (dump.driver_files && !dump.driver_files->content.driver.empty()) {
    drivers.push_back(dump.driver_files->content.driver);
  }
  machine.driver = common(drivers, "the driver");
  machine.cuda = common(versions, "the driver's CUDA");
  if (dump.host) {
    machine.driver = dump.host->driver;
    machine.cuda = dump.host->driver_cuda;
  }
}

// Devices of virtio are made by a hypervisor; boards with such numbers are not sold.
bool has_virtual_device(const PciTree& tree) {
  constexpr int kVirtio = 0x1af4;
  return std::any_of(tree.devices.begin(), tree.devices.end(), [](const PciDevice& device) {
    return device.vendor == kVirtio || device.name.starts_with("Red Hat, Inc. Virtio");
  });
}

// The kind of hypervisor by the source that names it; others only show that there is one.
void join_guest(const Dump& dump, Machine& machine) {
  machine.is_guest = Measured<bool>::missing("no sign of a virtual machine");
  machine.hypervisor = Text::missing("no file names one");
  machine.container = Text::missing("no file tells whether this is a container");
  const auto take = [&machine](const std::string& kind) {
    machine.is_guest = true;
    if (!machine.hypervisor.has_value() && !kind.empty()) machine.hypervisor = kind;
  };
  if (dump.sysfs) {
    machine.container = dump.sysfs->content.container;
    if (const Text& seen = dump.sysfs->content.hypervisor; seen.has_value()) take(*seen);
  }
  if (dump.cpu_listing && !dump.cpu_listing->content.hypervisor.empty()) {
    take(dump.cpu_listing->content.hypervisor);
  }
  if (dump.hwloc_hypervisor) take(*dump.hwloc_hypervisor);
  for (const PciTree& tree : dump.trees) {
    if (has_virtual_device(tree)) take("");
  }
  if (machine.gpus.empty()) return;
  for (const auto& report : dump.reports) {
    for (const SmiGpu& gpu : report.content.gpus) {
      if (gpu.virtualization == "Pass-Through" || gpu.virtualization == "VGPU") take("");
    }
  }
}

}  // namespace

Machine make_machine(const Dump& dump) {
  Machine machine;
  make_roster(dump, machine);
  join_gpu_facts(dump, machine);
  join_pcie_classes(dump, machine);
  join_nvlink(dump, machine);
  join_topo(dump, machine);
  propose_places(dump, machine);
  machine.numa_nodes = numa_nodes_of(dump);
  join_versions(dump, machine);
  join_guest(dump, machine);
  find_faults(dump, machine);
  return machine;
}

std::string why_no_gpus(const Machine& machine) {
  const bool is_none = machine.gpu_count.has_value() && *machine.gpu_count == 0;
  return is_none ? "there is no GPU" : "it is not known which GPUs there are";
}

const PciTree* best_tree(const Machine& machine, const Dump& dump) {
  for (const PciTree& tree : dump.trees) {
    const bool has_all =
        std::all_of(machine.gpus.begin(), machine.gpus.end(),
                    [&](const auto& gpu) { return tree.find(gpu.address) != nullptr; });
    if (has_all && !tree.devices.empty()) return &tree;
  }
  return nullptr;
}

}  // namespace falcon::platform
