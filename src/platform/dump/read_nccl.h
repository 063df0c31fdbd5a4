// A topology file of NCCL: a dump (NCCL_TOPO_DUMP_FILE) or one written by hand (NCCL_TOPO_FILE).
#pragma once
#include <string_view>

#include "platform/machine/pci_tree.h"

namespace falcon::platform {

/// GPUs are the devices with a <gpu> element and, in files without any, those of a display class.
/// Throws Error(kUsage) when it is not whole XML or describes several hosts.
PciTree read_nccl(std::string_view text);

}  // namespace falcon::platform
