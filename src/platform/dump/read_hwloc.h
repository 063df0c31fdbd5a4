// A machine as lstopo exports it (XML of hwloc 2 and 3).
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/machine/pci_tree.h"

namespace falcon::platform {

/// A NUMA node of such a file.
struct HwlocNode {
  int id = 0;
  std::vector<int> cpus;
  std::int64_t memory_bytes = 0;  // 0: not given
};

struct HwlocMachine {
  PciTree tree;
  std::vector<HwlocNode> nodes;
};

/// Throws Error(kUsage) when it is not whole XML.
HwlocMachine read_hwloc(std::string_view text);

}  // namespace falcon::platform
