// What a struct's field list says, as data: for help, --set, the README of the keys and JSON
// Schema.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/codec.h"
#include "base/value.h"
#include "falconbench/fields.h"

namespace falcon::base {

enum class Shape {
  kBool,
  kInteger,
  kNumber,
  kText,
  kNameOrList,
  kWordOrCount,
  kList,
  kMap,
  kStruct,
  kAny
};

/// One key and what stands below it.
struct FieldInfo {
  std::string name;
  std::string help;
  Rule rule;
  Shape shape = Shape::kAny;
  bool is_optional = false;
  bool is_measured = false;
  bool is_choice = false;  // a map with exactly one of its members
  std::string kind_words;  // list of the words, one of which (alone or with its member) it is
  Value default_value;     // null: none
  std::vector<FieldInfo> members;  // of a struct; of a list or map: one, what its items are

  const FieldInfo* find(std::string_view member) const;
  std::vector<std::string> member_names() const;
};

template <class T>
FieldInfo describe(const T& defaults);

/// The visitor that lists one struct.
class FieldLister {
 public:
  explicit FieldLister(FieldInfo& info) : info_(info) {}
  void choice() { info_.is_choice = true; }
  void kind(std::string&, const char* words) { info_.kind_words = words; }
  template <class T>
  void field(const char* name, T& member, const char* help, const Rule& rule = {}) {
    FieldInfo info = describe(member);
    info.name = name;
    info.help = help;
    info.rule = rule;
    info_.members.push_back(std::move(info));
  }

 private:
  FieldInfo& info_;
};

template <class T>
constexpr Shape shape_of() {
  if constexpr (IsVector<T>::value) return Shape::kList;
  if constexpr (IsMap<T>::value) return Shape::kMap;
  if constexpr (std::is_same_v<T, bool>) return Shape::kBool;
  if constexpr (std::is_integral_v<T>) return Shape::kInteger;
  if constexpr (std::is_same_v<T, double>) return Shape::kNumber;
  if constexpr (std::is_same_v<T, std::string>) return Shape::kText;
  if constexpr (std::is_same_v<T, NameOrList>) return Shape::kNameOrList;
  if constexpr (std::is_same_v<T, WordOrCount>) return Shape::kWordOrCount;
  if constexpr (std::is_same_v<T, Value>) return Shape::kAny;
  return Shape::kStruct;
}

/// The root of a struct: name, help and rule are empty, members are its fields in order.
template <class T>
FieldInfo describe(const T& defaults) {
  if constexpr (IsOptional<T>::value) {
    FieldInfo info = describe(defaults.value_or(typename T::value_type{}));
    info.is_optional = true;
    if (!defaults.has_value()) info.default_value = Value();
    return info;
  } else if constexpr (IsMeasured<T>::value) {
    FieldInfo info = describe(defaults.value);
    info.is_optional = false;
    info.is_measured = true;
    return info;
  } else {
    FieldInfo info;
    info.shape = shape_of<T>();
    if constexpr (IsVector<T>::value) {
      info.members.push_back(describe(typename T::value_type{}));
    } else if constexpr (IsMap<T>::value) {
      info.members.push_back(describe(typename T::mapped_type{}));
    } else if constexpr (shape_of<T>() == Shape::kStruct) {
      FieldLister lister(info);
      visit_fields(const_cast<T&>(defaults), lister);  // a lister only reads it
    }
    if constexpr (shape_of<T>() != Shape::kStruct) info.default_value = to_value(defaults);
    return info;
  }
}

/// The dotted names of everything below info, but not below maps and lists (their names are free).
std::vector<std::string> dotted_keys(const FieldInfo& info);

/// JSON Schema (draft 2020-12) of what to_value writes: every key that is always written is
/// required, no other key is accepted, a Measured value is null only beside its <name>_reason,
/// words of a list are an enum (lists of words that the schema should leave open: "").
Value json_schema(const FieldInfo& info, const WordLists& words);

}  // namespace falcon::base
