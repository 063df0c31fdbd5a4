// Which GPUs a machine has, in NVML's order where a file tells it.
#pragma once
#include "platform/machine/machine.h"

namespace falcon::platform {

/// Fills gpu_count, gpu_source, and addresses, bus ids and names of gpus; reports sources that
/// disagree.
void make_roster(const Dump& dump, Machine& machine);

}  // namespace falcon::platform
