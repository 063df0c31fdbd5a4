// The GPU of a rank, and all GPUs for the probe: found by PCI address and UUID, never by number.
#pragma once
#include <vector>

#include <falconbench/plan.h>
#include <falconbench/probe.h>

namespace falcon::worker {

/// What CUDA shows to this process. facts.error says why it could not be asked; a host without a
/// GPU driver is no error.
void list_devices(ProbeFacts& facts);

/// CUDA's number for the planned GPU, in this process. Throws Error(kHost) naming what was planned
/// and what is there when none fits or when PCI address and UUID belong to different GPUs.
int find_device(const DevicePlan& planned);

/// How CUDA names its device of this number.
DevicePlan describe_device(int ordinal);

}  // namespace falcon::worker
