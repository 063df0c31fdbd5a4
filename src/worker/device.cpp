#include "worker/device.h"

#include <array>
#include <cstdio>

#include <cuda_runtime_api.h>

#include <falconbench/errors.h>

namespace falcon::worker {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex.data();
  }
  return text;
}

std::string pci_text(const cudaDeviceProp& properties) {
  std::array<char, 32> text{};
  std::snprintf(
      text.data(), text.size(), "%04x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
      static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  return text.data();
}

void require(cudaError_t result, const std::string& what) {
  if (result == cudaSuccess) return;
  throw Error(ExitCode::kHost, what + ": " + cudaGetErrorString(result));
}

cudaDeviceProp properties_of(int ordinal) {
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, ordinal),
          "cannot read the properties of CUDA device " + std::to_string(ordinal));
  return properties;
}

ProbeDevice probe_device(int ordinal) {
  const cudaDeviceProp properties = properties_of(ordinal);
  ProbeDevice device;
  device.ordinal = ordinal;
  device.uuid = uuid_text(properties.uuid);
  device.pci_address = pci_text(properties);
  device.name = properties.name;
  device.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  return device;
}

void list_peers(std::vector<ProbeDevice>& devices) {
  for (ProbeDevice& device : devices) {
    for (const ProbeDevice& other : devices) {
      int can = 0;
      if (other.ordinal == device.ordinal) continue;
      require(cudaDeviceCanAccessPeer(&can, device.ordinal, other.ordinal),
              "cannot ask CUDA about peer access");
      if (can != 0) device.peers.push_back(other.ordinal);
    }
  }
}

std::string text_of(const std::string& uuid, const std::string& pci_address) {
  return pci_address + " (" + uuid + ")";
}

[[noreturn]] void refuse(const DevicePlan& planned, const std::vector<ProbeDevice>& there) {
  std::string list;
  for (const ProbeDevice& device : there) {
    list += (list.empty() ? "" : ", ") + text_of(device.uuid, device.pci_address);
  }
  throw Error(ExitCode::kHost, "the planned GPU " + text_of(planned.uuid, planned.pci_address) +
                                   " is not what CUDA shows to this worker: " +
                                   (list.empty() ? "no GPU at all" : list));
}

}  // namespace

void list_devices(ProbeFacts& facts) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver) {
    int driver = 0;  // 0: there is none at all
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0 && result != cudaErrorNoDevice) {
      facts.error = cudaGetErrorString(result);
    }
    return;
  }
  if (result != cudaSuccess) {
    facts.error = cudaGetErrorString(result);
    return;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    facts.devices.push_back(probe_device(ordinal));
  }
  list_peers(facts.devices);
}

int find_device(const DevicePlan& planned) {
  ProbeFacts facts;
  list_devices(facts);
  if (!facts.error.empty()) throw Error(ExitCode::kHost, "CUDA: " + facts.error);
  int by_address = -1;
  if (!planned.pci_address.empty() &&
      cudaDeviceGetByPCIBusId(&by_address, planned.pci_address.c_str()) != cudaSuccess) {
    cudaGetLastError();  // said below, with what is there
    refuse(planned, facts.devices);
  }
  for (const ProbeDevice& device : facts.devices) {
    const bool same_address = planned.pci_address.empty() || device.ordinal == by_address;
    const bool same_uuid = planned.uuid.empty() || device.uuid == planned.uuid;
    if (same_address && same_uuid) return device.ordinal;
  }
  refuse(planned, facts.devices);
}

DevicePlan describe_device(int ordinal) {
  const ProbeDevice device = probe_device(ordinal);
  return {"cuda", device.uuid, device.pci_address, device.name};
}

}  // namespace falcon::worker
