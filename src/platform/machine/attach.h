// Which GPUs a chassis may hold: a proposal from what is plugged where, for the user to confirm.
#pragma once
#include "platform/machine/machine.h"

namespace falcon::platform {

/// Fills place and drawer of the GPUs, and host_links. A GPU is proposed as falcon when it has no
/// NVLink, sits below a PCIe switch and shares that switch with no GPU that has NVLink, on a
/// machine that also has GPUs with NVLink; a switch next to a root port is a drawer. On other
/// machines a switch on the board and one in a chassis look alike: nothing is proposed. REQUIRES:
/// nvlink is joined.
void propose_places(const Dump& dump, Machine& machine);

/// The same for another device of a tree: "local", "falcon drawer 2".
Measured<std::string> place_of(const Machine& machine, const PciDevice& device);

}  // namespace falcon::platform
