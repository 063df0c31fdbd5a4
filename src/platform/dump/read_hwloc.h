// A machine as lstopo exports it (XML of hwloc 1 to 3).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
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
  std::optional<std::string> hypervisor;  // that the names of the board give away
};

/// Throws Error(kUsage) when it is not whole XML.
HwlocMachine read_hwloc(std::string_view text);

}  // namespace falcon::platform
