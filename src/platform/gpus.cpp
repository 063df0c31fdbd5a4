#include "platform/gpus.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

constexpr const char* kPciDevices = "sys/bus/pci/devices/";

Measured<int> numa_node_of(const Root& root, const std::string& pci_address) {
  const auto node = root.integer(kPciDevices + pci_address + "/numa_node");
  if (!node.has_value()) return Measured<int>::missing(node.reason);
  // The kernel writes -1 where the firmware does not say, also on machines with several nodes.
  if (*node < 0) return Measured<int>::missing("the kernel does not know (numa_node is -1)");
  return static_cast<int>(*node);
}

Measured<std::string> iommu_of(const Root& root, const std::string& pci_address) {
  using Text = Measured<std::string>;
  const std::string device = kPciDevices + pci_address;
  if (!root.exists(device)) return Text::missing("/" + device + " is not there");
  const std::string group = root.resolved(device + "/iommu_group");
  // An IOMMU that is switched on has a group for every device.
  if (group.empty()) return std::string("none");
  return root.text(group + "/type");
}

std::vector<GpuProcess> processes_of(const Root& root, const NvmlDevice& device,
                                     std::int64_t own_pid, bool read_names) {
  std::vector<GpuProcess> processes;
  const auto listed = device.processes();
  if (!listed.has_value()) return processes;
  for (const NvmlProcess& one : *listed) {
    if (one.pid == own_pid) continue;
    GpuProcess process;
    process.pid = one.pid;
    process.memory_bytes = one.memory_bytes;
    if (read_names) {
      process.name = root.text("proc/" + std::to_string(one.pid) + "/comm").value.value_or("");
    }
    processes.push_back(std::move(process));
  }
  return processes;
}

Gpu read_gpu(const Root& root, const NvmlDevice& device, std::int64_t own_pid, bool read_names) {
  Gpu gpu;
  gpu.uuid = device.uuid().value.value_or("");
  gpu.pci_address = device.pci_address().value.value_or("");
  gpu.name = device.name().value.value_or("unknown GPU");
  const auto memory = device.memory();
  gpu.memory_bytes = Measured<std::int64_t>::missing(memory.reason);
  gpu.memory_used_bytes = Measured<std::int64_t>::missing(memory.reason);
  if (memory.has_value()) {
    gpu.memory_bytes = memory.value->total_bytes;
    gpu.memory_used_bytes = memory.value->used_bytes;
  }
  gpu.numa_node = gpu.pci_address.empty() ? Measured<int>::missing("NVML gives no PCI address")
                                          : numa_node_of(root, gpu.pci_address);
  gpu.iommu = gpu.pci_address.empty() ? Measured<std::string>::missing("NVML gives no PCI address")
                                      : iommu_of(root, gpu.pci_address);
  gpu.compute_capability = device.compute_capability().measured();
  gpu.pcie_generation = device.pcie_generation().measured();
  gpu.pcie_generation_max = device.pcie_generation_max().measured();
  gpu.pcie_width = device.pcie_width().measured();
  gpu.pcie_width_max = device.pcie_width_max().measured();
  gpu.power_limit_w = device.power_limit_w().measured();
  gpu.processes = processes_of(root, device, own_pid, read_names);
  gpu.cuda_ordinal = Measured<int>::missing("CUDA was not asked");
  gpu.peers = Measured<std::vector<std::string>>::missing("CUDA was not asked");
  return gpu;
}

// NVIDIA GPUs that are plugged in, for the sentence that says why there is no driver.
std::string boards_without_driver(const Root& root) {
  std::vector<std::string> found;
  for (const std::string& address : root.names("sys/bus/pci/devices")) {
    const std::string vendor = root.text(kPciDevices + address + "/vendor").value.value_or("");
    const std::string device_class = root.text(kPciDevices + address + "/class").value.value_or("");
    if (vendor == "0x10de" && device_class.starts_with("0x03")) found.push_back(address);
  }
  if (found.empty()) return "";
  return "; NVIDIA boards are plugged in at " + base::join(found, ", ");
}

std::string lost_gpu(const NvmlDevice& device, const std::string& reason) {
  std::string text = "the GPU at ";
  text += device.pci_address().value.value_or("an unknown address");
  return text + " is lost: " + reason;
}

bool is_listed(const std::vector<Gpu>& gpus, const Gpu& gpu) {
  return std::any_of(gpus.begin(), gpus.end(), [&gpu](const Gpu& other) {
    return (!gpu.uuid.empty() && other.uuid == gpu.uuid) ||
           (!gpu.pci_address.empty() && other.pci_address == gpu.pci_address);
  });
}

}  // namespace

void read_gpus(const Root& root, const Nvml& nvml, std::int64_t own_pid, Host& host) {
  host.driver = nvml.driver_version().measured();
  host.driver_cuda = nvml.driver_cuda_version().measured();
  if (!nvml.is_available()) {
    host.driver = Measured<std::string>::missing(nvml.unavailable() + boards_without_driver(root));
    return;
  }
  const bool read_names = !host.container.has_value();
  int position = 0;
  for (const NvmlResult<NvmlDevice>& device : nvml.devices()) {
    const std::string where = "entry " + std::to_string(position++) + " of NVML's list: ";
    if (!device.has_value()) {
      host.notes.push_back(where + device.reason);
      continue;
    }
    if (const auto uuid = device.value->uuid(); uuid.is_lost()) {
      host.notes.push_back(where + lost_gpu(*device, uuid.reason));
      continue;
    }
    Gpu gpu = read_gpu(root, *device, own_pid, read_names);
    if (gpu.uuid.empty() && gpu.pci_address.empty()) {
      host.notes.push_back(where + "a GPU with neither UUID nor PCI address");
    } else if (is_listed(host.gpus, gpu)) {
      host.notes.push_back(where + "the GPU at " + gpu.pci_address + " is listed twice");
    } else {
      host.gpus.push_back(std::move(gpu));
    }
  }
  std::stable_sort(host.gpus.begin(), host.gpus.end(), [](const Gpu& a, const Gpu& b) {
    return is_before_on_pci(a.pci_address, b.pci_address);
  });
}

}  // namespace falcon::platform
