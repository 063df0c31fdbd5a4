#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codec_describe.h"
#include "base/json.h"
#include "sample_structs.h"

namespace falcon::base {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

TEST(Describe, ListsTheFieldsWithTheirDefaults) {
  const FieldInfo info = describe(Sample());
  EXPECT_EQ(info.member_names().size(), 14u);
  EXPECT_EQ(info.find("whole")->shape, Shape::kInteger);
  EXPECT_EQ(info.find("whole")->rule.max, 100);
  EXPECT_EQ(info.find("real")->default_value, Value(0.5));
  EXPECT_EQ(info.find("text")->help, "a text");
  EXPECT_TRUE(info.find("maybe")->is_optional);
  EXPECT_TRUE(info.find("maybe")->default_value.is_null());
  EXPECT_EQ(info.find("list")->shape, Shape::kList);
  EXPECT_TRUE(info.find("list")->members.front().find("heat")->is_measured);
  EXPECT_TRUE(info.find("choice")->is_choice);
  EXPECT_EQ(info.find("kind")->kind_words, "kinds");
  EXPECT_EQ(info.find("none"), nullptr);
  EXPECT_THAT(dotted_keys(info),
              IsSupersetOf({"choice", "choice.pears", "kind.fast.speed", "inner.number", "list"}));
}

TEST(Describe, SchemaOfAStructWithMeasuredValues) {
  EXPECT_EQ(json_schema(describe(Inner()), sample_words), parse_json(R"({
    "type": "object", "additionalProperties": false,
    "properties": {
      "number": {"type": "integer", "description": "a number"},
      "heat_reason": {"type": "string"},
      "heat": {"anyOf": [{"type": "number"}, {"type": "null"}], "description": "degrees"},
      "counts_reason": {"type": "string"},
      "counts": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}],
                 "description": "a measured list"}},
    "required": ["number", "heat", "counts"],
    "allOf": [
      {"if": {"properties": {"heat": {"type": "null"}}},
       "then": {"required": ["heat_reason"]}},
      {"if": {"properties": {"counts": {"type": "null"}}},
       "then": {"required": ["counts_reason"]}}]})",
                                                                     "schema"));
}

TEST(Describe, SchemaOfBoundsWordsChoicesAndKinds) {
  const Value schema = json_schema(describe(Sample()), sample_words);
  const auto property = [&](const std::string& name) {
    return to_json(*schema.find("properties")->find(name));
  };
  EXPECT_EQ(property("whole"),
            R"({"type":"integer","minimum":-5,"maximum":100,"description":"a whole number"})");
  EXPECT_EQ(property("word"),
            R"({"type":"string","enum":["red","green","blue"],"description":"a colour"})");
  EXPECT_EQ(property("map"), R"({"type":"object","additionalProperties":{"type":"number"},)"
                             R"("description":"numbers by name"})");
  EXPECT_EQ(property("any"), R"({"description":"whatever"})");
  const Value& choice = *schema.find("properties")->find("choice");
  EXPECT_EQ(*choice.find("minProperties"), Value(1));
  EXPECT_EQ(*choice.find("maxProperties"), Value(1));
  EXPECT_EQ(to_json(*choice.find("properties")->find("pears")->find("exclusiveMinimum")), "0");
  const Value& kind = *schema.find("properties")->find("kind")->find("anyOf");
  EXPECT_EQ(to_json(*kind.as_list()[0].find("enum")), R"(["slow","fast"])");
  EXPECT_NE(kind.as_list()[1].find("properties")->find("fast"), nullptr);
  EXPECT_EQ(to_json(*schema.find("required")),
            R"(["flag","whole","real","text","word","list","map","names","any"])");
}

}  // namespace
}  // namespace falcon::base
