// SHA-256 (FIPS 180-4): the name of a spec's content.
#pragma once
#include <string>
#include <string_view>

namespace falcon::base {

/// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace falcon::base
