#include <algorithm>
#include <set>
#include <utility>

#include "platform/dump/lines.h"
#include "platform/machine/answers_parts.h"
#include "platform/machine/pair_classes.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

using base::Value;

std::string hexadecimal(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04x", static_cast<unsigned>(number));
  return text;
}

const SmiGpu* reported(const Dump& dump, const std::string& address) {
  const auto find = [&](const SmiReport& report) -> const SmiGpu* {
    for (const SmiGpu& gpu : report.gpus) {
      if (normal_pci_address(gpu.bus_id) == address) return &gpu;
    }
    return nullptr;
  };
  for (const auto& report : dump.reports) {
    if (const SmiGpu* gpu = find(report.content)) return gpu;
  }
  return dump.table ? find(dump.table->content) : nullptr;
}

void put_path(const PciTree& tree, const PciDevice& device, Value& out) {
  if (!tree.shows_bridge_ports || device.root.empty()) {
    put_missing(out, "pci_path", tree.file + " does not show it");
    return;
  }
  out.set("root", device.root);
  out.set("root_port", device.bridges.empty() ? Value() : Value(device.bridges.front()));
  if (device.bridges.empty()) out.set("root_port_reason", "no bridge is visible above it");
  out.set("pci_path", to_value(pci_path_of(device)));
}

void put_hwloc(const PciDevice& device, Value& out) {
  out.set("numa_nodes", to_value(device.numa_nodes));
  out.set("hwloc_link_GBps", to_value(device.link_gb_per_s));
  out.set("osdev", to_value(device.os_devices));
}

void put_nccl(const PciTree& tree, const PciDevice& device, Value& out) {
  out.set("link_speed", device.speed.empty() ? Value() : Value(device.speed));
  out.set("link_width", device.width ? Value(std::to_string(*device.width)) : Value());
  out.set("device", device.device < 0 ? Value() : Value(hexadecimal(device.device)));
  const auto index = static_cast<std::size_t>(&device - tree.devices.data());
  const int number = tree.nccl_devices[index];
  out.set("nccl_dev", number < 0 ? Value() : Value(number));
  Value targets = Value::list();
  int total = 0;
  for (const NvlinkTarget& one : tree.nvlink) {
    if (one.gpu != device.address) continue;
    targets.push_back(Value(Value::List{Value(one.target), Value(one.links)}));
    total += one.links;
  }
  out.set("nvlink_targets", std::move(targets));
  out.set("nvlink_total", tree.tells_nvlink ? Value(total) : Value());
}

// As nvidia-smi prints them, where only it was asked: "16x", "500.00 W".
void put_printed(const SmiGpu& gpu, bool with_link, Value& out) {
  const std::vector<std::pair<const char*, const Printed*>> fields = {
      {"persistence", &gpu.persistence}, {"mig", &gpu.mig},           {"pstate", &gpu.pstate},
      {"device_max", &gpu.device_max},   {"host_max", &gpu.host_max}, {"ecc", &gpu.ecc},
      {"power_limit", &gpu.power_limit}};
  for (const auto& [name, value] : fields) out.set(name, to_value(*value));
  if (!with_link) return;
  out.set("gen_max", to_value(gpu.gen_max));
  out.set("gen_cur", to_value(gpu.gen_cur));
  out.set("width_max", to_value(gpu.width_max));
  out.set("width_cur", to_value(gpu.width_cur));
}

void put_numa(const MachineGpu& gpu, const Dump& dump, Value& out) {
  put(out, "numa", gpu.numa_node);
  if (gpu.numa_node.has_value()) return;
  // The kernel and NCCL write -1 for "unknown"; the answer keeps that and says so.
  const bool is_minus_one =
      std::any_of(dump.trees.begin(), dump.trees.end(), [&](const auto& tree) {
        const PciDevice* device = tree.find(gpu.address);
        return device != nullptr && device->numa_node == -1;
      });
  if (is_minus_one) out.set("numa", -1);
}

Value gpu_value(const Machine& machine, const Dump& dump, std::size_t index) {
  const MachineGpu& gpu = machine.gpus[index];
  Value out = Value::object();
  const bool has_tree = std::any_of(dump.trees.begin(), dump.trees.end(), [&](const auto& tree) {
    return tree.find(gpu.address) != nullptr;
  });
  out.set("order", static_cast<int>(index));
  out.set("busid", has_tree || gpu.bus_id.empty() ? gpu.address : gpu.bus_id);
  out.set("name", gpu.name.empty() ? Value() : Value(gpu.name));
  put_numa(gpu, dump, out);
  put(out, "gen", gpu.gen_cur);
  put(out, "width", gpu.width_cur);
  put(out, "gen_cur", gpu.gen_cur);
  put(out, "gen_max", gpu.gen_max);
  put(out, "width_cur", gpu.width_cur);
  put(out, "width_max", gpu.width_max);
  put(out, "power_limit_W", gpu.power_limit_w);
  put(out, "place", gpu.place);
  put(out, "drawer", gpu.drawer);
  bool has_path = false;
  for (const PciTree& tree : dump.trees) {
    const PciDevice* device = tree.find(gpu.address);
    if (device == nullptr) continue;
    if (!has_path) put_path(tree, *device, out);
    has_path = true;
    if (tree.source == TreeSource::kHwloc) put_hwloc(*device, out);
    if (tree.source == TreeSource::kNccl) put_nccl(tree, *device, out);
  }
  if (const SmiGpu* report = reported(dump, gpu.address)) {
    put_printed(*report, !has_tree && dump.csv.empty(), out);
  }
  return out;
}

// The one value that all GPUs have.
Measured<double> common_power_limit(const Machine& machine) {
  using Limit = Measured<double>;
  std::set<double> limits;
  for (const MachineGpu& gpu : machine.gpus) {
    if (!gpu.power_limit_w.has_value()) return Limit::missing(gpu.power_limit_w.reason);
    limits.insert(*gpu.power_limit_w);
  }
  if (limits.size() == 1) return *limits.begin();
  return Limit::missing(limits.empty() ? why_no_gpus(machine) : "the GPUs differ, see gpu_list");
}

// The printed link and mark of lspci, where all GPUs have the same.
Measured<std::string> link_at_capture(const Machine& machine, const Dump& dump) {
  using Text = Measured<std::string>;
  std::set<std::string> seen;
  for (const MachineGpu& gpu : machine.gpus) {
    const PciDevice* device =
        dump.lspci_listing ? dump.lspci_listing->content.find(gpu.address) : nullptr;
    if (device == nullptr || !device->width || !device->max_width) {
      return Text::missing("no listing of lspci has all GPUs");
    }
    seen.insert("lspci: LnkCap " + device->max_speed + " x" + std::to_string(*device->max_width) +
                "; LnkSta " + device->speed + " x" + std::to_string(*device->width));
  }
  if (seen.size() == 1) return *seen.begin();
  return Text::missing(seen.empty() ? why_no_gpus(machine) : "the GPUs differ, see links");
}

void put_affinities(const Machine& machine, const Dump& dump, Value& out) {
  const TopoMatrix* topo = any_topo_of_all(machine, dump);
  Value cpus = Value::list();
  Value nodes = Value::list();
  bool has_cpus = topo != nullptr;
  bool has_nodes = topo != nullptr;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const MachineGpu& gpu = machine.gpus[i];
    Value cpu = gpu.cpus.empty() ? Value() : Value(gpu.cpus);
    Value node = gpu.numa_node.has_value() ? Value(std::to_string(*gpu.numa_node)) : Value();
    if (topo != nullptr && topo->cpu_affinity[i]) cpu = *topo->cpu_affinity[i];
    if (topo != nullptr) node = to_value(topo->numa_affinity[i]);
    has_cpus = has_cpus || !cpu.is_null();
    has_nodes = has_nodes || !node.is_null();
    cpus.push_back(std::move(cpu));
    nodes.push_back(std::move(node));
  }
  if (has_cpus) out.set("cpu_affinity", std::move(cpus));
  if (!has_cpus) put_missing(out, "cpu_affinity", "no file tells the CPUs near the GPUs");
  if (has_nodes) out.set("numa_affinity", std::move(nodes));
  if (!has_nodes) put_missing(out, "numa_affinity", "no file tells the NUMA nodes of the GPUs");
}

Value link_value(const Machine& machine, std::size_t index) {
  const MachineGpu& gpu = machine.gpus[index];
  Value out = Value::object();
  out.set("gpu", static_cast<int>(index));
  put(out, "gen_max", gpu.gen_max);
  put(out, "gen_cur", gpu.gen_cur);
  put(out, "width_max", gpu.width_max);
  put(out, "width_cur", gpu.width_cur);
  out.set("verdict", link_verdict(machine, index));
  return out;
}

}  // namespace

void put_gpus(const Machine& machine, const Dump& dump, Value& out) {
  const bool has_addresses =
      std::none_of(machine.gpus.begin(), machine.gpus.end(),
                   [](const MachineGpu& gpu) { return gpu.address.empty(); });
  if (!machine.gpu_count.has_value() || !has_addresses ||
      (machine.gpus.empty() && *machine.gpu_count > 0)) {
    put_missing(out, "gpu_list", "no file tells where the GPUs are");
  } else {
    Value list = Value::list();
    for (std::size_t i = 0; i < machine.gpus.size(); ++i)
      list.push_back(gpu_value(machine, dump, i));
    out.set("gpu_list", std::move(list));
  }
  put(out, "power_limit_W", common_power_limit(machine));
  put_affinities(machine, dump, out);
}

void put_links(const Machine& machine, const Dump& dump, Value& out) {
  const auto is_known = [](const MachineGpu& gpu) {
    return gpu.width_cur.has_value() || gpu.gen_cur.has_value();
  };
  put(out, "link_at_capture", link_at_capture(machine, dump));
  if (std::none_of(machine.gpus.begin(), machine.gpus.end(), is_known)) {
    const std::string why = machine.gpus.empty() ? why_no_gpus(machine) : "no file tells the links";
    put_missing(out, "links", why);
    put_missing(out, "link_per_gpu", why);
    return;
  }
  Value links = Value::list();
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) links.push_back(link_value(machine, i));
  const auto same = [&](const MachineGpu& gpu) {
    const MachineGpu& first = machine.gpus.front();
    return gpu.gen_max == first.gen_max && gpu.gen_cur == first.gen_cur &&
           gpu.width_max == first.width_max && gpu.width_cur == first.width_cur;
  };
  if (std::all_of(machine.gpus.begin(), machine.gpus.end(), same)) {
    Value one = Value::object();
    for (const char* name : {"gen_max", "gen_cur", "width_max", "width_cur"}) {
      one.set(name, *links.as_list().front().find(name));
    }
    out.set("link_per_gpu", std::move(one));
  } else {
    put_missing(out, "link_per_gpu", "the GPUs differ, see links");
  }
  out.set("links", std::move(links));
}

}  // namespace falcon::platform
