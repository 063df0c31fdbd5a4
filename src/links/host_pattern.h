// The pattern of links/pattern.h in host memory.
#pragma once
#include <cstdint>

namespace falcon::links {

void fill_words(std::uint64_t* words, std::int64_t count, std::uint64_t seed);
/// Whether every word is the pattern's.
bool are_words(const std::uint64_t* words, std::int64_t count, std::uint64_t seed);

}  // namespace falcon::links
