#include <vector>

#include "falconbench/catalog.h"

namespace falcon::catalog {

std::span<const WordFacts> samplers() {
  static const std::vector<WordFacts> table = {
      {"cpu", "processor time of the host, each core and the workers; run queue", {}},
      {"memory", "memory and page faults of the host and the workers", {}},
      {"disk", "bytes, operations, latency and queue of the block devices", {}},
      {"network", "bytes, packets, errors and drops of the network interfaces", {}},
      {"nvml",
       "GPU load, memory and its errors, power, energy, clocks, temperature, throttling, NVLink "
       "and "
       "PCIe",
       {}},
      {"gpm",
       "GPU activity: SMs, tensor cores, device memory, all PCIe traffic (Hopper and newer)",
       {}},
      {"redfish", "ports of a chassis, by its management (telemetry.redfish)", {"redfish"}},
  };
  return table;
}

std::span<const WordFacts> topologies() {
  static const std::vector<WordFacts> table = {
      {"localGPUs", "the GPUs in the host", {}},
      {"hybridGPUs", "some GPUs in the host, some in the chassis", {}},
      {"falconGPUs", "the GPUs in the composable chassis", {}},
  };
  return table;
}

std::span<const WordFacts> storages() {
  static const std::vector<WordFacts> table = {
      {"localNVMe", "an NVMe drive in the host", {}},
      {"falconNVMe", "an NVMe drive in the composable chassis", {}},
  };
  return table;
}

}  // namespace falcon::catalog
