// A number that may not be had: a value, or the reason why there is none. The report writes the
// second as
// `"name": null, "name_reason": "..."`.
#pragma once
#include <optional>
#include <string>
#include <utility>

namespace falcon {

template <class T>
struct Measured {
  std::optional<T> value;
  std::string reason = "not measured";  // empty when there is a value

  Measured() = default;
  Measured(T v) : value(std::move(v)), reason() {}  // NOLINT: a value converts
  static Measured missing(const std::string& why) {
    Measured m;
    m.reason = why;
    return m;
  }
  bool has_value() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  friend bool operator==(const Measured&, const Measured&) = default;
};

}  // namespace falcon
