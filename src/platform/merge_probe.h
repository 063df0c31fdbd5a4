// Joins what CUDA says of the GPUs to what NVML says, by UUID or PCI address, never by index.
#pragma once
#include "falconbench/host.h"
#include "falconbench/probe.h"

namespace falcon::platform {

/// Fills ordinals, compute capabilities and libraries. With CUDA_VISIBLE_DEVICES set, GPUs that the
/// probe does not see are removed, with a note; without it they stay, with a missing ordinal. A GPU
/// that only CUDA sees is added. A probe that failed changes no GPU except for the reasons.
void merge_probe(Host& host, const ProbeFacts& probe);

}  // namespace falcon::platform
