#include "report/writable.h"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace falcon::report {
namespace {

using base::Value;

std::string valid_text(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    if (length > 0) {
      out += text.substr(0, length);
    } else {
      const auto byte = static_cast<unsigned char>(text.front());
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

bool is_finite(const Value& value) {
  return !value.is_real() || std::isfinite(value.as_number());
}

Value writable_object(const Value::Object& members) {
  Value out = Value::object();
  for (const Value::Member& member : members) {
    const std::string name = valid_text(member.name);
    out.as_object().push_back({name, writable(member.value), {}});
    if (!is_finite(member.value)) out.set(name + "_reason", "is not a finite number");
  }
  return out;
}

}  // namespace

Value writable(const Value& value) {
  if (!is_finite(value)) return {};
  if (value.is_text()) return Value(valid_text(value.as_text()));
  if (value.is_object()) return writable_object(value.as_object());
  if (!value.is_list()) return value;
  Value list = Value::list();
  for (const Value& item : value.as_list()) list.push_back(writable(item));
  return list;
}

}  // namespace falcon::report
