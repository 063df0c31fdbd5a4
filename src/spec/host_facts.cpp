#include <vector>

#include "falconbench/catalog.h"
#include "falconbench/system_file.h"

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
      {"redfish", "ports of a chassis, by its management (redfish of it in the system file)", {}},
  };
  return table;
}

std::span<const WordFacts> topologies() {
  static const std::vector<WordFacts> table = {
      {kLocalGpus, "the GPUs in the host", {}},
      {kHybridGpus, "some GPUs in the host, some in the chassis", {}},
      {kFalconGpus, "the GPUs in the composable chassis", {}},
  };
  return table;
}

std::span<const WordFacts> pair_classes() {
  return link_classes().first(5);
}

std::span<const WordFacts> link_classes() {
  static const std::vector<WordFacts> table = {
      {"L-L", "two GPUs in the host", {}},
      {"F-L", "a GPU in a chassis and one in the host", {}},
      {"F-F same drawer", "two GPUs in one drawer, on one link to the host", {}},
      {"F-F other half", "two GPUs in one drawer, on different links to the host", {}},
      {"F-F cross drawer", "two GPUs in different drawers", {}},
      {"host-L", "the host and a GPU in it", {}},
      {"host-F", "the host and a GPU in a chassis", {}},
      {"uplink", "a link between a drawer and the host, used by all of its GPUs at once", {}},
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
