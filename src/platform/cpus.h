// Processors and NUMA nodes from sysfs and procfs.
#pragma once
#include <optional>
#include <vector>

#include "falconbench/host.h"
#include "platform/root.h"

namespace falcon::platform {

/// Online logical CPUs: sysfs, else what /proc/cpuinfo or the NUMA nodes list.
std::vector<int> online_cpus(const Root& root);

/// affinity: of this process, where it is known already (else asked for: from the kernel for "/",
/// from proc/self/status below another root, else all online CPUs).
Cpu read_cpu(const Root& root, const std::optional<std::vector<int>>& affinity,
             const Measured<double>& quota_cpus);

std::vector<NumaNode> read_numa_nodes(const Root& root);

}  // namespace falcon::platform
