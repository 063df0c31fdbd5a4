// Hosts that plans are made for in tests.
#pragma once
#include <cstdint>
#include <string>

#include "falconbench/host.h"

namespace falcon::plan {

inline Gpu made_gpu(int index, int node) {
  Gpu gpu;
  gpu.uuid = "GPU-" + std::to_string(index);
  gpu.pci_address = "0000:" + std::to_string(10 + index) + ":00.0";
  gpu.name = "Test GPU";
  gpu.memory_bytes = std::int64_t{16} << 30;
  gpu.numa_node = node;
  gpu.compute_capability = std::string("9.0");
  return gpu;
}

// Two nodes of 8 CPUs, GPUs alternating between them.
inline Host made_host(int gpus) {
  Host host;
  host.hostname = "made";
  host.driver =
      gpus > 0 ? Measured<std::string>("580.1") : Measured<std::string>::missing("no driver");
  for (int node = 0; node < 2; ++node) {
    NumaNode entry;
    entry.id = node;
    for (int cpu = 0; cpu < 8; ++cpu) entry.cpus.push_back(node * 8 + cpu);
    host.numa_nodes.push_back(entry);
  }
  for (int cpu = 0; cpu < 16; ++cpu) host.cpu.allowed.push_back(cpu);
  host.cpu.logical = 16;
  host.cpu.usable = 16;
  host.cpu.quota_cpus = Measured<double>::missing("no quota");
  for (int i = 0; i < gpus; ++i) host.gpus.push_back(made_gpu(i, i % 2));
  return host;
}

}  // namespace falcon::plan
