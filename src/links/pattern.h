// What is copied: words that follow from their place and a seed, so that any process can tell on
// either side whether they arrived. The same on host and device.
#pragma once
#include <cstdint>

namespace falcon::links {

/// An odd multiplier: different places give different words, and no two seeds agree anywhere.
constexpr std::uint64_t pattern_word(std::uint64_t index, std::uint64_t seed) {
  return (index * 0x9E3779B97F4A7C15U) ^ (seed * 0xD1B54A32D192ED03U);
}

}  // namespace falcon::links
