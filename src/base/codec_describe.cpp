#include "base/codec_describe.h"

#include <algorithm>
#include <cmath>

namespace falcon::base {
namespace {

Value schema_object(std::initializer_list<Value::Member> members) {
  return Value(Value::Object(members));
}

Value text_list(const std::vector<std::string>& words) {
  Value list = Value::list();
  for (const std::string& word : words) list.push_back(word);
  return list;
}

// A struct of which nothing may be set is not written at all.
bool may_be_absent(const FieldInfo& info) {
  if (info.is_optional) return true;
  if (info.shape != Shape::kStruct || info.is_measured) return false;
  return !info.kind_words.empty() ||
         std::all_of(info.members.begin(), info.members.end(), may_be_absent);
}

Value bound(double number) {
  const bool is_whole = std::abs(number) < 1e15 && std::trunc(number) == number;
  return is_whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
}

void add_bounds(Value& schema, const Rule& rule) {
  if (std::isfinite(rule.min)) {
    schema.set(rule.above_min ? "exclusiveMinimum" : "minimum", bound(rule.min));
  }
  if (std::isfinite(rule.max)) schema.set("maximum", bound(rule.max));
}

Value scalar_schema(const char* type, const Rule& rule, const WordLists& words) {
  Value schema = schema_object({{"type", type, {}}});
  add_bounds(schema, rule);
  const std::vector<std::string> accepted =
      words && rule.words[0] != '\0' ? words(rule.words) : std::vector<std::string>();
  if (!accepted.empty()) schema.set("enum", text_list(accepted));
  return schema;
}

Value any_of(Value a, Value b) {
  return schema_object({{"anyOf", Value(Value::List{std::move(a), std::move(b)}), {}}});
}

// {"if": name is null, "then": the reason is required}
Value reason_rule(const std::string& name) {
  Value is_null = schema_object({{"type", "null", {}}});
  Value condition =
      schema_object({{"properties", schema_object({{name, std::move(is_null), {}}}), {}}});
  Value consequence = schema_object({{"required", text_list({name + "_reason"}), {}}});
  return schema_object({{"if", std::move(condition), {}}, {"then", std::move(consequence), {}}});
}

Value struct_schema(const FieldInfo& info, const WordLists& words) {
  Value properties = Value::object();
  std::vector<std::string> required;
  Value rules = Value::list();
  for (const FieldInfo& member : info.members) {
    Value schema = json_schema(member, words);
    if (member.is_measured) {
      schema = any_of(std::move(schema), schema_object({{"type", "null", {}}}));
      properties.set(member.name + "_reason", schema_object({{"type", "string", {}}}));
      rules.push_back(reason_rule(member.name));
    }
    schema.set("description", member.help);
    properties.set(member.name, std::move(schema));
    if (!may_be_absent(member)) required.push_back(member.name);
  }
  Value schema = schema_object({{"type", "object", {}},
                                {"additionalProperties", false, {}},
                                {"properties", std::move(properties), {}}});
  if (info.is_choice) {
    schema.set("minProperties", 1);
    schema.set("maxProperties", 1);
  }
  if (!required.empty()) schema.set("required", text_list(required));
  if (!rules.as_list().empty()) schema.set("allOf", std::move(rules));
  return schema;
}

// What stands in a list or map: an absent item is written as null there.
Value item_schema(const FieldInfo& info, const WordLists& words) {
  Value schema = json_schema(info, words);
  return info.is_optional ? any_of(std::move(schema), schema_object({{"type", "null", {}}}))
                          : schema;
}

// A word alone, or a map with the one word that has options.
Value kind_schema(const FieldInfo& info, const WordLists& words) {
  FieldInfo options = info;
  options.is_choice = true;
  for (FieldInfo& member : options.members) member.is_optional = true;
  return any_of(scalar_schema("string", Rule{.words = info.kind_words.c_str()}, words),
                struct_schema(options, words));
}

void collect_keys(const FieldInfo& info, const std::string& prefix,
                  std::vector<std::string>& keys) {
  if (info.shape != Shape::kStruct) return;
  for (const FieldInfo& member : info.members) {
    keys.push_back(join_key(prefix, member.name));
    collect_keys(member, join_key(prefix, member.name), keys);
  }
}

}  // namespace

const FieldInfo* FieldInfo::find(std::string_view member) const {
  if (shape != Shape::kStruct) return nullptr;
  for (const FieldInfo& info : members) {
    if (info.name == member) return &info;
  }
  return nullptr;
}

std::vector<std::string> FieldInfo::member_names() const {
  std::vector<std::string> names;
  for (const FieldInfo& info : members) names.push_back(info.name);
  return names;
}

std::vector<std::string> dotted_keys(const FieldInfo& info) {
  std::vector<std::string> keys;
  collect_keys(info, "", keys);
  return keys;
}

Value json_schema(const FieldInfo& info, const WordLists& words) {
  switch (info.shape) {
    case Shape::kBool:
      return schema_object({{"type", "boolean", {}}});
    case Shape::kInteger:
      return scalar_schema("integer", info.rule, words);
    case Shape::kNumber:
      return scalar_schema("number", info.rule, words);
    case Shape::kText:
      return scalar_schema("string", info.rule, words);
    case Shape::kNameOrList:
      return any_of(schema_object({{"type", "string", {}}}),
                    schema_object({{"type", "array", {}},
                                   {"items", schema_object({{"type", "string", {}}}), {}}}));
    case Shape::kWordOrCount:
      return any_of(scalar_schema("string", Rule{.words = info.rule.words}, words),
                    scalar_schema("integer", Rule{.min = info.rule.min, .max = info.rule.max}, {}));
    case Shape::kList: {
      FieldInfo item = info.members.front();
      item.rule = info.rule;
      return schema_object({{"type", "array", {}}, {"items", item_schema(item, words), {}}});
    }
    case Shape::kMap:
      return schema_object(
          {{"type", "object", {}},
           {"additionalProperties", item_schema(info.members.front(), words), {}}});
    case Shape::kStruct:
      return info.kind_words.empty() ? struct_schema(info, words) : kind_schema(info, words);
    case Shape::kAny:
      break;
  }
  return Value::object();
}

}  // namespace falcon::base
