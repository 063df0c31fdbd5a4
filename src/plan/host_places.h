// The places of a run on several hosts, and what tells its hosts apart. Pure.
#pragma once
#include <vector>

#include "falconbench/finding.h"
#include "plan/processes.h"

namespace falcon::plan {

/// The places of all hosts as one, GPUs in the order of the ranks. Pairs are those of GPUs on one
/// host: PCIe and NVLink end there. REQUIRES: places and name of every share, the first host first.
Places joined_places(const std::vector<HostShare>& hosts);

/// One for each thing that is not the same on all hosts: GPUs, how they are attached and joined,
/// CPUs, driver, storage. What a host does not tell is not held against it.
std::vector<Finding> compare_hosts(const std::vector<HostShare>& hosts);

}  // namespace falcon::plan
