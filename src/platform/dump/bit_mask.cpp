#include "platform/dump/bit_mask.h"

#include <charconv>
#include <cstdint>
#include <system_error>

#include "base/text.h"

namespace falcon::platform {

std::vector<int> bits_of(std::string_view mask) {
  const std::vector<std::string> words = base::split(base::trim(mask), ',');
  std::vector<int> bits;
  for (std::size_t i = words.size(); i-- > 0;) {
    std::string_view digits = words[i];
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    std::uint32_t word = 0;
    if (!digits.empty()) {
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), word, 16);
      if (error != std::errc() || end != digits.data() + digits.size()) return {};
    }
    for (int bit = 0; bit < 32; ++bit) {
      if ((word >> bit & 1U) != 0)
        bits.push_back(static_cast<int>(words.size() - 1 - i) * 32 + bit);
    }
  }
  return bits;
}

}  // namespace falcon::platform
