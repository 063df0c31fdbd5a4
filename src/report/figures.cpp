#include "report/figures.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace falcon::report {
namespace {

std::string fixed(double number, int decimals) {
  std::array<char, 400> text;  // the largest double has 309 digits
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

std::string scaled(double number, const char* unit) {
  static constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t power = 0;
  while (std::abs(number) >= 1000 && power + 1 < kPrefixes.size()) {
    number /= 1000;
    ++power;
  }
  const std::string prefix = std::string(kPrefixes[power]) + unit;
  return (power == 0 ? fixed(number, 0) : figure(number)) + (prefix.empty() ? "" : " " + prefix);
}

}  // namespace

std::string figure(double number) {
  const double size = std::abs(number);
  if (size >= 1000) return fixed(number, 0);
  if (size >= 100) return fixed(number, 1);
  if (size >= 10) return fixed(number, 2);
  if (size >= 1 || size == 0) return fixed(number, size == 0 ? 0 : 3);
  const int leading_zeros = static_cast<int>(-std::floor(std::log10(size)));
  return fixed(number, std::min(leading_zeros + 2, 12));
}

std::string percent(double ratio) {
  return fixed(ratio * 100, 1) + " %";
}

std::string bytes_text(double bytes) {
  return scaled(bytes, "B");
}

std::string count_text(double count) {
  return scaled(count, "");
}

}  // namespace falcon::report
