#include "links/load_ring.h"

#include <numeric>
#include <random>
#include <utility>

namespace falcon::links {

std::vector<std::uint64_t> make_load_ring() {
  constexpr std::size_t kWordsApart = 128 / sizeof(std::uint64_t);
  constexpr std::size_t kPlaces = kLoadRingBytes / 128;
  std::vector<std::size_t> next(kPlaces);
  std::iota(next.begin(), next.end(), std::size_t{0});
  std::mt19937_64 random(1);
  // Sattolo's algorithm ("An algorithm to generate a random cyclic permutation", 1986)
  for (std::size_t i = kPlaces - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
  std::vector<std::uint64_t> ring(kPlaces * kWordsApart, 0);
  for (std::size_t i = 0; i < kPlaces; ++i) ring[i * kWordsApart] = next[i] * kWordsApart;
  return ring;
}

std::uint64_t end_of_walk(const std::vector<std::uint64_t>& ring, std::int64_t hops) {
  std::uint64_t at = 0;
  for (std::int64_t i = 0; i < hops; ++i) at = ring[at];
  return at;
}

}  // namespace falcon::links
