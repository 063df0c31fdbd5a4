#include "spec/hash.h"

#include <algorithm>

#include "base/codec.h"
#include "base/json.h"
#include "base/sha256.h"

namespace falcon::spec {
namespace {

void sort_keys(base::Value& value) {
  if (value.is_list()) {
    for (base::Value& item : value.as_list()) sort_keys(item);
  } else if (value.is_object()) {
    for (base::Value::Member& member : value.as_object()) sort_keys(member.value);
    std::sort(value.as_object().begin(), value.as_object().end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
  }
}

}  // namespace

std::string canonical_json(const RunSpec& resolved) {
  base::Value value = base::to_value(resolved);
  std::erase_if(value.as_object(), [](const base::Value::Member& member) {
    return member.name == "name" || member.name == "output" || member.name == "timeout_s" ||
           member.name == "telemetry";
  });
  sort_keys(value);
  return base::to_json(value);
}

std::string spec_hash(const RunSpec& resolved) {
  return base::sha256_hex(canonical_json(resolved));
}

}  // namespace falcon::spec
