#include "spec/yaml_scalar.h"

#include <charconv>
#include <cstdint>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace falcon::spec {
namespace {

using base::Value;

// What a plain scalar is in YAML 1.1 or to other readers, where that is not what it is here.
struct OtherReading {
  std::regex pattern;
  const char* why;
};

const std::vector<OtherReading>& other_readings() {
  static const std::vector<OtherReading> readings = {
      {std::regex("[-+]?0[0-9_]+"), "a leading 0 means octal to some; write it without"},
      {std::regex("[-+]?0[xob][0-9a-fA-F_]+"), "write it as a decimal number"},
      {std::regex("[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\\.[0-9_]*)?"),
       "some read this as a number in base 60; write a decimal number, or text in quotes"},
      {std::regex("[-+]?[0-9][0-9_]*_[0-9_]*(\\.[0-9_]*)?"), "write it without _"},
      {std::regex("y|Y|yes|Yes|YES|on|On|ON"), "some read this as true; write true"},
      {std::regex("n|N|no|No|NO|off|Off|OFF"), "some read this as false; write false"},
      {std::regex("[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)"), "not a finite number"},
  };
  return readings;
}

Value text_with(const std::string& text, std::string ambiguity) {
  Value value(text);
  value.ambiguity = std::move(ambiguity);
  return value;
}

template <class T>
Value number_value(const std::string& text, const char* too_large) {
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  T number{};
  const auto result = std::from_chars(begin, text.data() + text.size(), number);
  return result.ec == std::errc() ? Value(number) : text_with(text, too_large);
}

}  // namespace

Value plain_value(const std::string& text) {
  static const std::regex whole("[-+]?[0-9]+");
  static const std::regex real("[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?");
  if (text.size() > 64) return text;  // no number is that long
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  for (const OtherReading& reading : other_readings()) {
    if (std::regex_match(text, reading.pattern)) return text_with(text, reading.why);
  }
  if (std::regex_match(text, whole)) {
    return number_value<std::int64_t>(text, "does not fit 64 bits");
  }
  if (std::regex_match(text, real)) {
    return number_value<double>(text, "beyond the range of a double");
  }
  return text;
}

}  // namespace falcon::spec
