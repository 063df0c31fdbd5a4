// CUDA_VISIBLE_DEVICES, as far as it can be followed without CUDA.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "falconbench/host.h"
#include "platform/environment.h"

namespace falcon::platform {

constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";

/// Positions in `gpus` (in PCI order) that CUDA shows, or nothing when only CUDA can tell: numbers
/// are CUDA's own order, fastest GPU first, unless CUDA_DEVICE_ORDER is PCI_BUS_ID; MIG names stand
/// for parts of GPUs. As CUDA does, the list ends at its first entry that names no GPU.
std::optional<std::vector<std::size_t>> visible_gpus(const std::vector<Gpu>& gpus,
                                                     const Environment& environment);

/// Removes the hidden GPUs from host.gpus, with a note; with a note only where CUDA has to be asked
/// (merge_probe removes them then).
void hide_invisible_gpus(Host& host, const Environment& environment);

/// Whether a note says that CUDA has to be asked.
bool needs_cuda(const Host& host);

/// The two notes. REQUIRES: the variable is set.
std::string undecided_note(const Environment& environment);
std::string hidden_note(const Environment& environment, std::size_t shown, std::size_t all);

}  // namespace falcon::platform
