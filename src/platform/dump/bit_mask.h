// Sets of CPUs and NUMA nodes as the kernel, hwloc and NCCL print them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace falcon::platform {

/// "0x0000ffff,0xffffffff" (hwloc, where an empty word is 0) or "00000000,0000ffff" (NCCL): words
/// of 32 bits, the highest first -> numbers of the set bits, sorted. Empty when it is no mask.
std::vector<int> bits_of(std::string_view mask);

}  // namespace falcon::platform
