// How a struct lists its fields, once. Under each struct that crosses a boundary stands
//
//   template <class V> void visit_fields(Thing& t, V& v) {
//     v.field("name", t.name, "meaning, unit and default: this sentence becomes help",
//     at_least(1));
//   }
//
// and flags, YAML, JSON, messages, help, the schema and the report all walk it (src/base/codec.h).
// Member types: bool, int, int64, double, string, optional<T>, vector<T>, map<string, T>,
// Measured<T>, NameOrList, WordOrCount and other such structs. A map with exactly one of its keys
// (batch_size: {global|per_gpu}) starts with v.choice(); a word that may carry options
// (parallelism: ddp, or {ddp: {...}}) starts with v.kind(word, list).
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace falcon {

/// What a field accepts beyond its type. words names a catalog whose names are the accepted words
/// (spec::word_lists).
struct Rule {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  // min itself is not accepted
  bool required = false;
  const char* words = "";
};
constexpr Rule at_least(double min) {
  return {.min = min};
}
constexpr Rule above(double min) {
  return {.min = min, .above_min = true};
}
constexpr Rule between(double min, double max) {
  return {.min = min, .max = max};
}
constexpr Rule one_of(const char* words) {
  return {.words = words};
}
constexpr Rule one_of_or_at_least(const char* words, double min) {
  return {.min = min, .words = words};
}
constexpr Rule required_at_least(double min) {
  return {.min = min, .required = true};
}
constexpr Rule required_one_of(const char* words) {
  return {.required = true, .words = words};
}

/// `topology: localGPUs` or `topology: [0000:18:00.0, GPU-...]`.
struct NameOrList {
  std::string name;  // empty when a list was given
  std::vector<std::string>
      items;  // bare integers arrive as their digits; plan refuses them with the addresses
  friend bool operator==(const NameOrList&, const NameOrList&) = default;
};

/// `every: epoch` or `every: 500`; the Rule has the words and the range of the number.
struct WordOrCount {
  std::string word;  // empty when a number was given
  std::int64_t count = 0;
  friend bool operator==(const WordOrCount&, const WordOrCount&) = default;
};

}  // namespace falcon
