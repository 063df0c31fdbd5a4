#include "platform/machine/links.h"

#include <algorithm>
#include <map>
#include <optional>

#include "platform/dump/lines.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

// Keeps what an earlier source said.
template <class T>
void take(Measured<T>& place, const std::optional<T>& value) {
  if (!place.has_value() && value) place = *value;
}

std::optional<int> generation(const std::string& speed) {
  return pcie_generation(speed.substr(0, speed.find(" ("))).value;
}

std::optional<int> above_zero(std::optional<int> width) {
  return width && *width > 0 ? width : std::nullopt;
}

std::optional<int> smaller(std::optional<int> a, std::optional<int> b) {
  if (!a || !b) return {};
  return std::min(*a, *b);
}

// What sysfs and lspci give as a maximum is of the board alone; the slot may have less.
void take_maximum(const PciTree& tree, const PciDevice& device, MachineGpu& gpu) {
  const PciDevice* port = device.bridges.empty() ? nullptr : tree.find(device.bridges.back());
  std::optional<int> speed = generation(device.max_speed);
  std::optional<int> width = above_zero(device.max_width);
  if (port != nullptr && !port->max_speed.empty())
    speed = smaller(speed, generation(port->max_speed));
  if (port != nullptr && port->max_width) width = smaller(width, above_zero(port->max_width));
  take(gpu.gen_max, speed);
  take(gpu.width_max, width);
}

void take_device(const PciTree& tree, const PciDevice& device, MachineGpu& gpu) {
  if (device.numa_node) {
    if (*device.numa_node >= 0) {
      take(gpu.numa_node, device.numa_node);
    } else if (!gpu.numa_node.has_value()) {
      gpu.numa_node.reason = tree.file + ": the kernel does not know it (-1)";
    }
  }
  if (device.numa_nodes.size() == 1) take(gpu.numa_node, std::optional<int>(device.numa_nodes[0]));
  if (gpu.cpus.empty()) gpu.cpus = device.cpus;
  take(gpu.gen_cur, generation(device.speed));
  take(gpu.width_cur, above_zero(device.width));
  take_maximum(tree, device, gpu);
}

void take_csv(const CsvGpu& csv, MachineGpu& gpu) {
  take(gpu.gen_cur, csv.gen_cur);
  take(gpu.gen_max, csv.gen_max);
  take(gpu.width_cur, csv.width_cur);
  take(gpu.width_max, csv.width_max);
  take(gpu.power_limit_w, csv.power_limit_w);
}

std::optional<int> number_of(const Printed& text) {
  return text ? leading_number(*text) : std::nullopt;
}

void take_report(const SmiGpu& report, MachineGpu& gpu) {
  take(gpu.gen_cur, number_of(report.gen_cur));
  take(gpu.gen_max, number_of(report.gen_max));
  take(gpu.width_cur, number_of(report.width_cur));
  take(gpu.width_max, number_of(report.width_max));
  if (report.power_limit) take(gpu.power_limit_w, leading_real(*report.power_limit));
}

void take_host(const Gpu& seen, MachineGpu& gpu) {
  take(gpu.gen_cur, seen.pcie_generation.value);
  take(gpu.gen_max, seen.pcie_generation_max.value);
  take(gpu.width_cur, seen.pcie_width.value);
  take(gpu.width_max, seen.pcie_width_max.value);
  take(gpu.power_limit_w, seen.power_limit_w.value);
}

void take_reports(const std::vector<SmiGpu>& reports, Machine& machine) {
  for (const SmiGpu& report : reports) {
    for (MachineGpu& gpu : machine.gpus) {
      const std::string address = normal_pci_address(report.bus_id);
      if (!address.empty() && address == gpu.address) take_report(report, gpu);
    }
  }
}

// By address, else by index where the file is of all GPUs.
void take_csv_file(const std::vector<CsvGpu>& csv, Machine& machine) {
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    for (const CsvGpu& one : csv) {
      const std::string address = normal_pci_address(one.bus_id);
      const bool is_by_index =
          address.empty() && csv.size() == machine.gpus.size() && one.index == static_cast<int>(i);
      if (is_by_index || (!address.empty() && address == machine.gpus[i].address)) {
        take_csv(one, machine.gpus[i]);
      }
    }
  }
}

// What the boards of one product have in common: the name, else their numbers on PCI.
std::string model_of(const MachineGpu& gpu, const Dump& dump) {
  if (!gpu.name.empty()) return gpu.name;
  for (const PciTree& tree : dump.trees) {
    const PciDevice* device = tree.find(gpu.address);
    if (device != nullptr && device->device >= 0) return std::to_string(device->device);
  }
  return "";
}

// The number that most of the GPUs of this model have.
int usual(const Machine& machine, const std::string& model, Measured<int> MachineGpu::*what) {
  std::map<int, int> votes;
  for (const MachineGpu& gpu : machine.gpus) {
    if (gpu.model == model && (gpu.*what).has_value()) ++votes[*(gpu.*what)];
  }
  int best = 0;
  int most = 0;
  for (const auto& [number, count] : votes) {
    if (count >= most) {
      best = number;
      most = count;
    }
  }
  return best;
}

}  // namespace

void join_gpu_facts(const Dump& dump, Machine& machine) {
  for (MachineGpu& gpu : machine.gpus) {
    const std::string why = "no file tells it";
    gpu.model = model_of(gpu, dump);
    gpu.numa_node = Measured<int>::missing(why);
    gpu.gen_cur = gpu.gen_max = gpu.width_cur = gpu.width_max = gpu.numa_node;
    gpu.power_limit_w = Measured<double>::missing(why);
    for (const PciTree& tree : dump.trees) {
      if (const PciDevice* device = tree.find(gpu.address)) take_device(tree, *device, gpu);
    }
    if (!dump.lspci_listing) continue;
    const PciTree& listing = dump.lspci_listing->content;
    if (const PciDevice* device = listing.find(gpu.address)) take_device(listing, *device, gpu);
  }
  if (dump.host) {
    for (const Gpu& seen : dump.host->gpus) {
      for (MachineGpu& gpu : machine.gpus) {
        if (gpu.address == seen.pci_address) take_host(seen, gpu);
      }
    }
  }
  for (const auto& csv : dump.csv) take_csv_file(csv.content, machine);
  for (const auto& report : dump.reports) take_reports(report.content.gpus, machine);
  if (dump.table) take_reports(dump.table->content.gpus, machine);
}

std::string link_verdict(const Machine& machine, std::size_t index) {
  const MachineGpu& gpu = machine.gpus[index];
  const std::string& model = gpu.model;
  if (!gpu.width_cur.has_value()) return "unknown: " + gpu.width_cur.reason;
  std::string verdict;
  const auto add = [&verdict](const std::string& text) {
    verdict += (verdict.empty() ? "" : "; ") + text;
  };
  const std::string width = "x" + std::to_string(*gpu.width_cur);
  const bool is_narrow = gpu.width_max.has_value() && *gpu.width_cur < *gpu.width_max;
  if (!model.empty() && gpu.gen_max.has_value() &&
      *gpu.gen_max < usual(machine, model, &MachineGpu::gen_max)) {
    const std::string limit = "the system side limits it to Gen" + std::to_string(*gpu.gen_max);
    return is_narrow ? "slow and narrow: " + limit + ", " + width : "slow: " + limit;
  }
  const bool is_idle =
      gpu.gen_cur.has_value() && gpu.gen_max.has_value() && *gpu.gen_cur < *gpu.gen_max;
  if (is_idle) add("idle Gen" + std::to_string(*gpu.gen_cur) + " is not a fault");
  if (is_narrow) {
    add("narrow (" + width + (is_idle ? "" : " of x" + std::to_string(*gpu.width_max)) + ")");
    if (*gpu.width_cur * 2 <= usual(machine, model, &MachineGpu::width_cur)) {
      verdict += ", half of its neighbours";
    }
  }
  if (!verdict.empty()) return verdict;
  if (!gpu.width_max.has_value() || !gpu.gen_max.has_value()) {
    return "unknown: no file tells the maximum";
  }
  return "ok";
}

}  // namespace falcon::platform
