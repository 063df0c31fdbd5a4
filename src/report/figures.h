// Numbers as people read them, in messages and in the summary.
#pragma once
#include <cstdint>
#include <string>

namespace falcon::report {

/// About three significant digits, no exponent: 12345, 123.4, 12.35, 1.235, 0.0123.
std::string figure(double number);
/// 12.3 %.
std::string percent(double ratio);
/// Powers of 1000: 1.23 GB, 25.6 M.
std::string bytes_text(double bytes);
std::string count_text(double count);

}  // namespace falcon::report
