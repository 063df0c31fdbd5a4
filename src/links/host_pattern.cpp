#include "links/host_pattern.h"

#include "links/pattern.h"

namespace falcon::links {

void fill_words(std::uint64_t* words, std::int64_t count, std::uint64_t seed) {
  for (std::int64_t i = 0; i < count; ++i) {
    words[i] = pattern_word(static_cast<std::uint64_t>(i), seed);
  }
}

bool are_words(const std::uint64_t* words, std::int64_t count, std::uint64_t seed) {
  std::uint64_t differences = 0;  // no early end: this way the loop is vectorised
  for (std::int64_t i = 0; i < count; ++i) {
    differences |= words[i] ^ pattern_word(static_cast<std::uint64_t>(i), seed);
  }
  return differences == 0;
}

}  // namespace falcon::links
