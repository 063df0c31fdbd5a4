// Who is linked with whom by NVLink, joined from trees, nvidia-smi nvlink -s and -R, and topo -m.
#pragma once
#include "platform/machine/machine.h"

namespace falcon::platform {

/// Fills nvlink; reports numbers that disagree.
void join_nvlink(const Dump& dump, Machine& machine);

}  // namespace falcon::platform
