#include "train/device_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>

namespace falcon::train {

ReservedMemory reserved_memory(c10::Device device) {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
  const auto& all_pools = stats.reserved_bytes[0];
  return {static_cast<std::int64_t>(all_pools.current), static_cast<std::int64_t>(all_pools.peak)};
}

}  // namespace falcon::train
