#include "base/value.h"

namespace falcon::base {

// Here and not in the header: there Member, which the object's list holds, is not complete yet.
Value::Value(bool b) : data_(b) {}
Value::Value(int i) : data_(std::int64_t{i}) {}
Value::Value(std::int64_t i) : data_(i) {}
Value::Value(double d) : data_(d) {}
Value::Value(std::string s) : data_(std::move(s)) {}
Value::Value(std::string_view s) : data_(std::string(s)) {}
Value::Value(const char* s) : data_(std::string(s)) {}
Value::Value(List list) : data_(std::move(list)) {}
Value::Value(Object object) : data_(std::move(object)) {}
Value Value::object() {
  return Value(Object{});
}
Value Value::list() {
  return Value(List{});
}

double Value::as_number() const {
  return is_integer() ? static_cast<double>(as_integer()) : std::get<double>(data_);
}

const Value* Value::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const Member& member : as_object()) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

Value* Value::find(std::string_view name) {
  return const_cast<Value*>(std::as_const(*this).find(name));
}

const Value* Value::find_path(std::string_view dotted) const {
  const Value* at = this;
  while (at != nullptr && !dotted.empty()) {
    const std::size_t dot = dotted.find('.');
    at = at->find(dotted.substr(0, dot));
    dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
  }
  return at;
}

Value& Value::set(std::string_view name, Value value) {
  if (Value* old = find(name)) {
    *old = std::move(value);
    return *old;
  }
  as_object().push_back(Member{std::string(name), std::move(value), {}});
  return as_object().back().value;
}

void Value::push_back(Value value) {
  as_list().push_back(std::move(value));
}

std::string Value::kind_text() const {
  if (is_null()) return "nothing (null)";
  if (is_bool()) return as_bool() ? "true" : "false";
  if (is_integer()) return "the whole number " + std::to_string(as_integer());
  if (is_real()) return "a number";
  if (is_text()) return "text";
  return is_list() ? "a list" : "a map";
}

bool operator==(const Value& a, const Value& b) {
  return a.data_ == b.data_;
}

}  // namespace falcon::base
