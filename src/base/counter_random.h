// Counter-based random numbers: the n-th number of a stream is a pure function of (key, n), so what
// is drawn for one sample does not depend on threads, ranks or order. The n-th number is the
// SplitMix64 finaliser (Steele, Lea, Flood 2014; Stafford's variant 13) of key + (n + 1) * the
// 64-bit golden ratio. Not for cryptography.
#pragma once
#include <cstdint>
#include <initializer_list>

namespace falcon::base {

/// SplitMix64's finaliser: a bijection of 64-bit numbers in which every input bit flips half of the
/// output bits.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kGoldenRatio64 = 0x9E3779B97F4A7C15ULL;

/// One stream. Two streams whose key parts differ anywhere (value or order) are unrelated.
class CounterRandom {
 public:
  /// Key parts in a fixed order, e.g. {seed, purpose, epoch, index}.
  explicit constexpr CounterRandom(std::initializer_list<std::uint64_t> key_parts) {
    for (const std::uint64_t part : key_parts) key_ = mix64(key_ + kGoldenRatio64 + mix64(part));
  }

  /// The n-th number of the stream; does not move the stream.
  constexpr std::uint64_t at(std::uint64_t n) const {
    return mix64(key_ + (n + 1) * kGoldenRatio64);
  }
  constexpr std::uint64_t next() { return at(counter_++); }

  /// In [0, 1), 53 random bits.
  constexpr double uniform() { return uniform_at(counter_++); }
  constexpr double uniform_at(std::uint64_t n) const {
    return static_cast<double>(at(n) >> 11) * 0x1.0p-53;
  }
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// In 0 .. bound - 1, without bias (Lemire 2019). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ typedef unsigned __int128 Wide;
    const std::uint64_t reject_below = (0 - bound) % bound;
    while (true) {
      const Wide product = static_cast<Wide>(next()) * bound;
      if (static_cast<std::uint64_t>(product) >= reject_below) {
        return static_cast<std::uint64_t>(product >> 64);
      }
    }
  }

 private:
  std::uint64_t key_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace falcon::base
