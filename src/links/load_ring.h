// Places in memory that lead to one another in random order, for timing loads one by one.
#pragma once
#include <cstdint>
#include <vector>

namespace falcon::links {

inline constexpr std::int64_t kLoadRingBytes = 512 << 10;  // lies in the L2 cache of its GPU
inline constexpr std::int64_t kLoadHops = 2000;

/// Every place, a cache line of 128 bytes apart, begins with the index of the next one; all lie on
/// one ring.
std::vector<std::uint64_t> make_load_ring();
/// Where a walk of so many loads from index 0 ends.
std::uint64_t end_of_walk(const std::vector<std::uint64_t>& ring, std::int64_t hops);

}  // namespace falcon::links
