// A tree of values as read from YAML, JSON, --set or a message, each knowing where it stood. The
// one data model that all text formats meet in; base/codec.h turns it into structs and back.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace falcon::base {

/// Where a value stood. source is the file name as given, or "--set"; 1-based line and column, 0
/// where there is none.
struct Mark {
  std::string source;
  int line = 0;
  int column = 0;
};

class Value {
 public:
  struct Member;
  using List = std::vector<Value>;
  using Object = std::vector<Member>;  // in written order; parsers refuse duplicate keys

  Value() = default;          // null
  Value(bool b);              // NOLINT: values convert
  Value(int i);               // NOLINT: values convert
  Value(std::int64_t i);      // NOLINT: values convert
  Value(double d);            // NOLINT: values convert
  Value(std::string s);       // NOLINT: values convert
  Value(std::string_view s);  // NOLINT: values convert
  Value(const char* s);       // NOLINT: values convert
  Value(List list);           // NOLINT: values convert
  Value(Object object);       // NOLINT
  static Value object();
  static Value list();

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_real() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_integer() || is_real(); }
  bool is_text() const { return std::holds_alternative<std::string>(data_); }
  bool is_list() const { return std::holds_alternative<List>(data_); }
  bool is_object() const { return std::holds_alternative<Object>(data_); }

  // REQUIRES: the kind asked for.
  bool as_bool() const { return std::get<bool>(data_); }
  std::int64_t as_integer() const { return std::get<std::int64_t>(data_); }
  double as_number() const;  // integer or real
  const std::string& as_text() const { return std::get<std::string>(data_); }
  const List& as_list() const { return std::get<List>(data_); }
  List& as_list() { return std::get<List>(data_); }
  const Object& as_object() const { return std::get<Object>(data_); }
  Object& as_object() { return std::get<Object>(data_); }

  /// Member of an object by name, or nullptr (also when this is no object).
  const Value* find(std::string_view name) const;
  Value* find(std::string_view name);
  /// Value at a dotted path of object members, or nullptr.
  const Value* find_path(std::string_view dotted) const;
  /// Sets or replaces a member. REQUIRES: an object.
  Value& set(std::string_view name, Value value);
  /// Appends an item. REQUIRES: a list.
  void push_back(Value value);

  Mark mark;
  /// Set by the YAML reader on a plain scalar that other YAML versions read as something else
  /// (0100, 1:30, yes, .nan): says so in words. The value itself is then text.
  std::string ambiguity;

  /// "a whole number", "text", ... for messages.
  std::string kind_text() const;
  /// Same data; marks are ignored.
  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object> data_;
};

struct Value::Member {
  std::string name;
  Value value;
  Mark mark;  // of the name
  friend bool operator==(const Member& a, const Member& b) {
    return a.name == b.name && a.value == b.value;
  }
};

}  // namespace falcon::base
