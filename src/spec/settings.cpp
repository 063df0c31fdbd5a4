#include "spec/settings.h"

#include <algorithm>

#include "base/text.h"
#include "spec/yaml.h"

namespace falcon::spec {
namespace {

using base::FieldInfo;
using base::Value;

base::Mark setting_mark() {
  return {kSettingSource, 0, 0};
}

void mark_all(Value& value) {
  value.mark = setting_mark();
  if (value.is_list()) {
    for (Value& item : value.as_list()) mark_all(item);
  } else if (value.is_object()) {
    for (Value::Member& member : value.as_object()) {
      member.mark = setting_mark();
      mark_all(member.value);
    }
  }
}

// "" when schema has the key, else what is wrong with it.
std::string key_fault(const FieldInfo& schema, const std::string& key) {
  const FieldInfo* at = &schema;
  std::string known_part;
  for (const std::string& part : base::split(key, '.')) {
    const FieldInfo* next = at->find(part);
    if (next == nullptr) {
      if (at->shape != base::Shape::kStruct) return known_part + " has no keys below it";
      return base::unknown_key_text(part, at->member_names(), base::dotted_keys(schema));
    }
    known_part = base::join_key(known_part, part);
    at = next;
  }
  return {};
}

// Makes value a map that can take `part`; only a map, or what means the same, can.
bool make_room(Value& value, const FieldInfo& info, const std::string& part) {
  const bool holds_one = info.is_choice || !info.kind_words.empty();
  if (value.is_null() || (holds_one && !value.is_object())) {
    value = Value::object();
    value.mark = setting_mark();
  }
  if (!value.is_object()) return false;
  if (holds_one) {
    std::erase_if(value.as_object(), [&](const Value::Member& m) { return m.name != part; });
  }
  return true;
}

void set_path(Value& tree, const FieldInfo& schema, const std::string& key, Value value) {
  const std::vector<std::string> parts = base::split(key, '.');
  Value* at = &tree;
  const FieldInfo* info = &schema;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // a file's value that is no map stays: reading it names the fault
    if (!make_room(*at, *info, parts[i])) return;
    info = info->find(parts[i]);
    Value* next = at->find(parts[i]);
    if (next == nullptr) {
      at->as_object().push_back({parts[i], Value(), setting_mark()});
      next = &at->as_object().back().value;
    }
    at = next;
  }
  *at = std::move(value);
}

}  // namespace

void apply_settings(const std::vector<std::string>& settings, const FieldInfo& schema, Value& tree,
                    std::vector<Fault>& faults) {
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string key(base::trim(setting.substr(0, equals)));
    if (equals == std::string::npos || key.empty()) {
      faults.push_back({kSettingSource, 0, 0, "",
                        "expected key=VALUE, got \"" + base::printable(setting) + "\""});
      continue;
    }
    if (std::string message = key_fault(schema, key); !message.empty()) {
      faults.push_back({kSettingSource, 0, 0, key, std::move(message)});
      continue;
    }
    try {
      Value value = parse_yaml(std::string_view(setting).substr(equals + 1), kSettingSource);
      mark_all(value);
      set_path(tree, schema, key, std::move(value));
    } catch (const InputError& error) {
      for (const Fault& fault : error.faults()) {
        faults.push_back({kSettingSource, 0, 0, key, fault.message});
      }
    }
  }
}

}  // namespace falcon::spec
