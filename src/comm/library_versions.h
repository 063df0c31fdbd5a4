// The libraries under the engine: which version it was built for, which one this process has
// loaded, and from which file.
#pragma once
#include <map>
#include <string>

#include <falconbench/host.h>

namespace falcon::comm {

/// Keys LibTorch, CUDA, cuDNN, NCCL. Touches no device.
std::map<std::string, LibraryVersion> library_versions();

/// Throws Error(kHost) with both versions and the file when the loaded NCCL is not the one built
/// for: its structures lie by value in c10d's objects, so another version would corrupt memory.
void require_built_nccl();

}  // namespace falcon::comm
