// The PCIe link of each GPU, joined from all files that tell it.
#pragma once
#include "platform/machine/machine.h"

namespace falcon::platform {

/// Fills NUMA node, CPUs, link and power limit of every GPU.
void join_gpu_facts(const Dump& dump, Machine& machine);

}  // namespace falcon::platform
