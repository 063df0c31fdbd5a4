// Values to structs and back by the structs' field lists (falconbench/fields.h). Reading collects
// every fault with its place instead of stopping at the first one.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/value.h"
#include "falconbench/errors.h"
#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon::base {

/// The words that a Rule's list name stands for. Empty: words are not checked (our own messages).
using WordLists = std::function<std::vector<std::string>(std::string_view list)>;

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsMeasured : std::false_type {};
template <class T>
struct IsMeasured<Measured<T>> : std::true_type {};

std::string join_key(const std::string& parent, std::string_view name);
/// "at least 1", "from 0 to 1", "above 0"; "" for a rule without bounds.
std::string range_text(const Rule& rule);
/// "unknown key, did you mean x?": the nearest of the keys known in that place, else the key of
/// all_keys (dotted, may be empty) that ends in this name, else the list of the known ones.
std::string unknown_key_text(std::string_view name, const std::vector<std::string>& known,
                             const std::vector<std::string>& all_keys);

class Reader {
 public:
  /// all_keys: dotted_keys() of what is read, for hints in messages; may be empty.
  Reader(WordLists words, std::vector<Fault>& faults, std::vector<std::string> all_keys = {})
      : words_(std::move(words)), faults_(faults), all_keys_(std::move(all_keys)) {}

  /// Keys that are not known are passed over: for files that a newer program may have written.
  void skip_unknown_keys() { skips_unknown_keys_ = true; }
  bool skips_unknown_keys() const { return skips_unknown_keys_; }

  /// Reads value into out; on a fault out keeps what it had.
  template <class T>
  void read(const Value& value, const std::string& key, T& out, const Rule& rule = {});

  void fault(const Mark& mark, const std::string& key, const std::string& message);
  std::vector<std::string> words(std::string_view list) const {
    return words_ ? words_(list) : std::vector<std::string>();
  }
  const std::vector<std::string>& all_keys() const { return all_keys_; }
  /// Faults unless word is in the list; the message names the nearest one and, when short, all.
  void check_word(const Value& value, const std::string& key, const std::string& word,
                  const char* list);

 private:
  void read_bool(const Value& value, const std::string& key, bool& out);
  void read_integer(const Value& value, const std::string& key, std::int64_t& out,
                    const Rule& rule);
  void read_number(const Value& value, const std::string& key, double& out, const Rule& rule);
  void read_text(const Value& value, const std::string& key, std::string& out, const Rule& rule);
  void read_name_or_list(const Value& value, const std::string& key, NameOrList& out);
  void read_word_or_count(const Value& value, const std::string& key, WordOrCount& out,
                          const Rule& rule);
  bool in_range(const Value& value, const std::string& key, double number, const Rule& rule);
  void wrong_type(const Value& value, const std::string& key, const std::string& expected);
  template <class T>
  void read_struct(const Value& value, const std::string& key, T& out);

  WordLists words_;
  std::vector<Fault>& faults_;
  std::vector<std::string> all_keys_;
  bool skips_unknown_keys_ = false;
};

/// The visitor that fills one struct from one map.
class FieldReader {
 public:
  FieldReader(Reader& reader, const Value& value, std::string key)
      : reader_(reader), value_(value), key_(std::move(key)) {}

  void choice() { is_choice_ = true; }
  void kind(std::string& word, const char* list);
  template <class T>
  void field(const char* name, T& member, const char*, const Rule& rule = {}) {
    known_.emplace_back(name);
    if constexpr (IsMeasured<T>::value) known_.push_back(std::string(name) + "_reason");
    if (has_kind_ && kind_ != name) return;
    const Value* found = value_.find(name);
    if (found == nullptr) {
      if (rule.required) missing(name, rule);
      return;
    }
    ++found_;
    if constexpr (IsMeasured<T>::value) {
      read_measured(name, *found, member);
    } else {
      reader_.read(*found, join_key(key_, name), member, rule);
    }
  }
  /// Unknown keys, and the number of keys of a choice.
  void finish();

 private:
  template <class T>
  void read_measured(const char* name, const Value& found, Measured<T>& member) {
    const std::string reason_name = std::string(name) + "_reason";
    if (!found.is_null()) {
      T value{};
      reader_.read(found, join_key(key_, name), value);
      member = Measured<T>(std::move(value));
    } else if (const Value* reason = value_.find(reason_name);
               reason != nullptr && reason->is_text()) {
      member = Measured<T>::missing(reason->as_text());
    }
  }
  void missing(const char* name, const Rule& rule);
  void check_kind_options();

  Reader& reader_;
  const Value& value_;
  std::string key_;
  std::vector<std::string> known_;
  std::string kind_;
  bool has_kind_ = false;
  bool is_choice_ = false;
  int found_ = 0;
};

template <class T>
void Reader::read(const Value& value, const std::string& key, T& out, const Rule& rule) {
  if constexpr (IsOptional<T>::value) {
    if (value.is_null()) {
      out.reset();
      return;
    }
    typename T::value_type inner{};
    const std::size_t before = faults_.size();
    read(value, key, inner, rule);
    if (faults_.size() == before) out = std::move(inner);
  } else if constexpr (IsVector<T>::value) {
    if (!value.is_list()) return wrong_type(value, key, "a list");
    out.clear();
    for (std::size_t i = 0; i < value.as_list().size(); ++i) {
      out.emplace_back();
      typename T::value_type item{};
      read(value.as_list()[i], key + "[" + std::to_string(i) + "]", item, rule);
      out.back() = std::move(item);
    }
  } else if constexpr (IsMap<T>::value) {
    if (!value.is_object()) return wrong_type(value, key, "a map");
    out.clear();
    for (const Value::Member& member : value.as_object()) {
      read(member.value, join_key(key, member.name), out[member.name], rule);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    read_bool(value, key, out);
  } else if constexpr (std::is_same_v<T, int>) {
    std::int64_t wide = out;
    Rule narrow = rule;
    narrow.min = std::max<double>(rule.min, std::numeric_limits<int>::min());
    narrow.max = std::min<double>(rule.max, std::numeric_limits<int>::max());
    read_integer(value, key, wide, narrow);
    out = static_cast<int>(wide);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    read_integer(value, key, out, rule);
  } else if constexpr (std::is_same_v<T, double>) {
    read_number(value, key, out, rule);
  } else if constexpr (std::is_same_v<T, std::string>) {
    read_text(value, key, out, rule);
  } else if constexpr (std::is_same_v<T, NameOrList>) {
    read_name_or_list(value, key, out);
  } else if constexpr (std::is_same_v<T, WordOrCount>) {
    read_word_or_count(value, key, out, rule);
  } else if constexpr (std::is_same_v<T, Value>) {
    out = value;
  } else {
    read_struct(value, key, out);
  }
}

template <class T>
void Reader::read_struct(const Value& value, const std::string& key, T& out) {
  FieldReader fields(*this, value, key);
  visit_fields(out, fields);
  fields.finish();
}

/// The visitor that writes one struct as one map.
class FieldWriter;

template <class T>
Value to_value(const T& in);

class FieldWriter {
 public:
  Value take() { return std::move(out_); }
  void choice() {}
  void kind(std::string& word, const char*) {
    kind_ = word;
    has_kind_ = true;
    if (!word.empty()) out_ = Value(word);
  }
  template <class T>
  void field(const char* name, T& member, const char*, const Rule& = {}) {
    if constexpr (IsMeasured<T>::value) {
      out_.set(name, to_value(member.value));
      if (!member.value) out_.set(std::string(name) + "_reason", member.reason);
    } else if constexpr (IsOptional<T>::value) {
      if (member) out_.set(name, to_value(*member));
    } else if (!has_kind_) {
      Value value = to_value(member);
      // a struct with nothing set says nothing (and an empty choice would be refused when read
      // back)
      const bool is_empty = !IsMap<T>::value && value.is_object() && value.as_object().empty();
      if (!is_empty) out_.set(name, std::move(value));
    } else if (kind_ == name) {
      out_ = Value(Value::Object{{name, to_value(member), {}}});
    }
  }

 private:
  Value out_ = Value::object();
  std::string kind_;
  bool has_kind_ = false;
};

/// The struct as a value: absent optionals are left out, Measured becomes null with a
/// <name>_reason.
template <class T>
Value to_value(const T& in) {
  if constexpr (IsVector<T>::value) {
    Value list = Value::list();
    for (const auto& item : in) list.push_back(to_value(item));
    return list;
  } else if constexpr (IsOptional<T>::value) {
    return in ? to_value(*in) : Value();
  } else if constexpr (IsMap<T>::value) {
    Value map = Value::object();
    for (const auto& [name, item] : in) map.as_object().push_back({name, to_value(item), {}});
    return map;
  } else if constexpr (std::is_same_v<T, NameOrList>) {
    return in.name.empty() && !in.items.empty() ? to_value(in.items) : Value(in.name);
  } else if constexpr (std::is_same_v<T, WordOrCount>) {
    return in.word.empty() ? Value(in.count) : Value(in.word);
  } else if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
    return Value(static_cast<std::int64_t>(in));
  } else if constexpr (std::is_constructible_v<Value, T>) {
    return Value(in);
  } else {
    FieldWriter writer;
    // field lists take a mutable struct; a writer only reads it
    visit_fields(const_cast<T&>(in), writer);
    return writer.take();
  }
}

/// Reads a message or file that we wrote ourselves: any fault is an Error with this code.
template <class T>
T from_value(const Value& value, ExitCode code = ExitCode::kInternal) {
  std::vector<Fault> faults;
  T out{};
  Reader reader(nullptr, faults);
  reader.read(value, "", out);
  if (!faults.empty()) throw Error(code, to_text(faults.front()));
  return out;
}

}  // namespace falcon::base
