// What the caching allocator holds of a GPU's memory.
#pragma once
#include <cstdint>

#include <c10/core/Device.h>

namespace falcon::train {

struct ReservedMemory {
  std::int64_t current_bytes = 0;
  std::int64_t peak_bytes = 0;  // since the process began
};

/// Of all pools together. REQUIRES: a GPU.
ReservedMemory reserved_memory(c10::Device device);

}  // namespace falcon::train
