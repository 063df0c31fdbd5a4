#include "data/random_bytes.h"

#include <cstdint>
#include <cstring>

namespace falcon::data {

void fill_random_bytes(const base::CounterRandom& random, std::byte* out, std::size_t bytes) {
  std::size_t n = 0;
  for (; (n + 1) * 8 <= bytes; ++n) {
    const std::uint64_t word = random.at(n);
    std::memcpy(out + 8 * n, &word, sizeof word);
  }
  const std::uint64_t last = random.at(n);
  std::memcpy(out + 8 * n, &last, bytes - 8 * n);
}

}  // namespace falcon::data
