#include "platform/merge_probe.h"

#include <algorithm>
#include <cctype>

#include "platform/pci_address.h"
#include "platform/visible_devices.h"

namespace falcon::platform {
namespace {

std::string bare_uuid(const std::string& uuid) {
  std::string bare = uuid.starts_with("GPU-") ? uuid.substr(4) : uuid;
  std::transform(bare.begin(), bare.end(), bare.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return bare;
}

bool is_same(const Gpu& gpu, const ProbeDevice& device) {
  if (!gpu.uuid.empty() && !device.uuid.empty())
    return bare_uuid(gpu.uuid) == bare_uuid(device.uuid);
  return !gpu.pci_address.empty() && gpu.pci_address == normal_pci_address(device.pci_address);
}

/// Those of a probe by their addresses.
std::vector<std::string> peers_of(const ProbeDevice& device, const ProbeFacts& probe) {
  std::vector<std::string> addresses;
  for (const ProbeDevice& other : probe.devices) {
    if (std::find(device.peers.begin(), device.peers.end(), other.ordinal) != device.peers.end()) {
      addresses.push_back(normal_pci_address(other.pci_address));
    }
  }
  return addresses;
}

void join(Gpu& gpu, const ProbeDevice& device, const ProbeFacts& probe) {
  gpu.cuda_ordinal = device.ordinal;
  gpu.peers = peers_of(device, probe);
  if (!device.compute_capability.empty()) gpu.compute_capability = device.compute_capability;
  if (!gpu.memory_bytes.has_value() && device.memory_bytes > 0) {
    gpu.memory_bytes = device.memory_bytes;
  }
}

Gpu only_cuda(const ProbeDevice& device, const ProbeFacts& probe) {
  Gpu gpu;
  gpu.uuid = device.uuid;
  gpu.pci_address = normal_pci_address(device.pci_address);
  gpu.name = device.name;
  const std::string reason = "NVML does not show this GPU";
  for (auto* number : {&gpu.numa_node, &gpu.pcie_generation, &gpu.pcie_generation_max,
                       &gpu.pcie_width, &gpu.pcie_width_max}) {
    *number = Measured<int>::missing(reason);
  }
  gpu.power_limit_w = Measured<double>::missing(reason);
  gpu.iommu = Measured<std::string>::missing(reason);
  gpu.memory_used_bytes = Measured<std::int64_t>::missing(reason);
  join(gpu, device, probe);
  return gpu;
}

void hide_unseen(Host& host) {
  if (!host.environment.contains(kVisibleDevices)) return;
  std::erase(host.notes, undecided_note(host.environment));
  const std::size_t before = host.gpus.size();
  std::erase_if(host.gpus, [](const Gpu& gpu) { return !gpu.cuda_ordinal.has_value(); });
  if (host.gpus.size() < before) {
    host.notes.push_back(hidden_note(host.environment, host.gpus.size(), before));
  }
}

}  // namespace

void merge_probe(Host& host, const ProbeFacts& probe) {
  host.libraries = probe.libraries;
  const std::string reason =
      probe.error.empty() ? "CUDA does not show this GPU" : "CUDA: " + probe.error;
  for (Gpu& gpu : host.gpus) {
    gpu.cuda_ordinal = Measured<int>::missing(reason);
    gpu.peers = Measured<std::vector<std::string>>::missing(reason);
  }
  if (!probe.error.empty()) return;
  for (const ProbeDevice& device : probe.devices) {
    const auto gpu = std::find_if(host.gpus.begin(), host.gpus.end(),
                                  [&device](const Gpu& one) { return is_same(one, device); });
    if (gpu != host.gpus.end()) {
      join(*gpu, device, probe);
    } else {
      host.notes.push_back("only CUDA shows the GPU " + device.name + " (" + device.uuid + ")");
      host.gpus.push_back(only_cuda(device, probe));
    }
  }
  hide_unseen(host);
  std::stable_sort(host.gpus.begin(), host.gpus.end(), [](const Gpu& a, const Gpu& b) {
    return is_before_on_pci(a.pci_address, b.pci_address);
  });
}

}  // namespace falcon::platform
