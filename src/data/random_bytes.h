// Random bytes of a counter-based stream.
#pragma once
#include <cstddef>

#include "base/counter_random.h"

namespace falcon::data {

/// bytes bytes of the stream's numbers 0, 1, ..., little-endian.
void fill_random_bytes(const base::CounterRandom& random, std::byte* out, std::size_t bytes);

}  // namespace falcon::data
