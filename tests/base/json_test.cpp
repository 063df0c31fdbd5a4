#include "base/json.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"

namespace falcon::base {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string place(const Mark& mark) {
  return mark.source + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

std::string refusal(const std::string& text) {
  try {
    return "read as " + to_json(parse_json(text, "f"));
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 1u);
    return error.what();
  }
}

TEST(Json, EveryValueAndKeyKnowsItsPlace) {
  const Value tree = parse_json(
      "{\"a\": [1, -2.5e3 ,\n true, null],\r\n\t\"\xC3\xA9\\u00e9\" : {\"b\":\"x\"} , \"c\":[]}",
      "f");
  const Value& list = *tree.find("a");
  EXPECT_EQ(place(tree.mark), "f:1:1");
  EXPECT_EQ(place(tree.as_object()[0].mark), "f:1:2");
  EXPECT_EQ(place(list.mark), "f:1:7");
  EXPECT_EQ(place(list.as_list()[0].mark), "f:1:8");
  EXPECT_EQ(place(list.as_list()[1].mark), "f:1:11");
  EXPECT_EQ(place(list.as_list()[2].mark), "f:2:2");
  EXPECT_EQ(place(list.as_list()[3].mark), "f:2:8");
  EXPECT_EQ(place(tree.as_object()[1].mark), "f:3:2");
  EXPECT_EQ(place(tree.as_object()[1].value.mark), "f:3:14");
  EXPECT_EQ(place(tree.as_object()[1].value.find("b")->mark), "f:3:19");
  EXPECT_EQ(place(tree.find("c")->mark), "f:3:30");
  EXPECT_EQ(tree.as_object()[1].name, "\xC3\xA9\xC3\xA9");
}

TEST(Json, NumbersKeepTheirKindAndAllTheirDigits) {
  const Value list =
      parse_json("[0, -9223372036854775808, 9223372036854775807, 1.0, 1e2, 0.1, 5e-324]", "f");
  EXPECT_EQ(list.as_list()[1], Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(list.as_list()[2], Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_TRUE(list.as_list()[3].is_real());
  EXPECT_TRUE(list.as_list()[4].is_real());
  EXPECT_EQ(list.as_list()[6], Value(5e-324));
}

TEST(Json, WhatItDoesNotTakeIsNamedWithItsPlace) {
  EXPECT_THAT(refusal(""), StartsWith("f:1:1: is empty"));
  EXPECT_THAT(refusal(" \n "), StartsWith("f:1:1: is empty"));
  EXPECT_THAT(refusal("{\"a\": 1,\n \"a\": 2}"),
              StartsWith("f:2:2: key \"a\" is given twice, first in line 1"));
  EXPECT_THAT(refusal("[1, 2 ,\n]"), StartsWith("f:1:7: a trailing comma"));
  EXPECT_THAT(refusal("// x\n[1]"), StartsWith("f:1:1: a comment"));
  EXPECT_THAT(refusal("[1, /* x */ 2]"), StartsWith("f:1:5: a comment"));
  EXPECT_THAT(refusal("[1] # x"), StartsWith("f:1:5: a comment"));
  EXPECT_THAT(refusal("{} {}"), StartsWith("f:1:4: more text behind the document"));
  EXPECT_THAT(refusal("[1, 1e400]"), StartsWith("f:1:5: a number beyond the range of a double"));
  EXPECT_THAT(refusal("[9223372036854775808]"), HasSubstr("f:1:2: the whole number 92233720"));
  EXPECT_THAT(refusal("[-9223372036854775809]"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(refusal("[123456789012345678901234567890]"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(refusal("[1, NaN]"), StartsWith("f:1:5: invalid JSON"));
  EXPECT_THAT(refusal("[01]"), StartsWith("f:1:3: invalid JSON"));
  EXPECT_THAT(refusal("[1,,2]"), StartsWith("f:1:4: invalid JSON"));
  EXPECT_THAT(refusal("{\"a\" 1}"), HasSubstr("expected ':'"));
  EXPECT_THAT(refusal("{a: 1}"), StartsWith("f:1:2: invalid JSON"));
  EXPECT_THAT(refusal("['a']"), StartsWith("f:1:2: invalid JSON"));
  EXPECT_THAT(refusal("[\"a\nb\"]"), HasSubstr("f:1:4: invalid JSON"));
  EXPECT_THAT(refusal("[\"\\ud800\"]"), HasSubstr("surrogate"));
  EXPECT_THAT(refusal("[\"abc"), HasSubstr("f:1:2: invalid JSON"));
  EXPECT_THAT(refusal("[1"), StartsWith("f:1:3: ends in the middle"));
  EXPECT_THAT(refusal("["), StartsWith("f:1:2: ends in the middle"));
  EXPECT_THAT(refusal("]"), StartsWith("f:1:1: invalid JSON"));
}

TEST(Json, EncodingIsCheckedBeforeAnythingElse) {
  EXPECT_THAT(refusal("[\"a\xFF\"]"), StartsWith("f:1:4: invalid UTF-8 (byte 0xff)"));
  EXPECT_THAT(refusal("[\"\xED\xA0\x80\"]"), StartsWith("f:1:3: invalid UTF-8 (byte 0xed)"));
  EXPECT_THAT(refusal("[\"\xC0\xAF\"]"), StartsWith("f:1:3: invalid UTF-8 (byte 0xc0)"));
  EXPECT_THAT(refusal(std::string("[1\0]", 4)), StartsWith("f:1:3: holds a NUL byte"));
  EXPECT_THAT(refusal(std::string("\xFF\xFE[\0]\0", 6)), StartsWith("f:1:1: is UTF-16"));
  EXPECT_THAT(refusal(std::string("[\0]\0", 4)), StartsWith("f:1:1: is UTF-16"));
  EXPECT_EQ(refusal("\xEF\xBB\xBF[1]"), "read as [1]");
}

TEST(Json, NestingHasALimit) {
  const std::string deepest = std::string(100, '[') + std::string(100, ']');
  EXPECT_EQ(refusal(deepest), "read as " + deepest);
  EXPECT_THAT(refusal(std::string(1000000, '[')), StartsWith("f:1:101: more than 100 levels"));
  std::string maps;
  for (int i = 0; i < 200; ++i) maps += "{\"a\":";
  EXPECT_THAT(refusal(maps), StartsWith("f:1:501: more than 100 levels"));
}

// A worker's records come as one line with a million characters.
TEST(Json, OneLongLineIsReadInOnePass) {
  Value list = Value::list();
  for (int i = 0; i < 200000; ++i) list.push_back(i * 0.001);
  const Value again = parse_json(to_json(list), "f");
  EXPECT_EQ(again, list);
  EXPECT_GT(again.as_list().back().mark.column, 1000000);
}

TEST(Json, WritingAndReadingGivesTheSameValues) {
  Value tree = Value::object();
  tree.set("third", 1.0 / 3.0);
  tree.set("tiny", std::numeric_limits<double>::denorm_min());
  tree.set("huge", std::numeric_limits<double>::max());
  tree.set("whole", 100.0);
  tree.set("integer", std::int64_t{9007199254740993});
  tree.set("text", "\"\\\n\x01\xC3\xA9");
  tree.set("list", Value(Value::List{Value(), true, Value::object(), Value::list()}));
  for (const int indent : {-1, 2}) {
    const std::string text = to_json(tree, indent);
    EXPECT_EQ(parse_json(text, "f"), tree) << text;
  }
  EXPECT_THAT(to_json(tree), StartsWith("{\"third\":0.3333333333333333,\"tiny\":5e-324,"));
  EXPECT_THAT(to_json(tree), HasSubstr("\"whole\":100.0")) << "a real stays one";
}

TEST(Json, NotANumberIsNeverWritten) {
  Value inner = Value::object();
  inner.set("x", Value(Value::List{1.0, std::nan("")}));
  Value tree = Value::object();
  tree.set("a", inner);
  try {
    to_json(tree);
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInternal);
    EXPECT_THAT(error.what(), HasSubstr("a.x[1]"));
  }
  EXPECT_THROW(to_json(Value(std::numeric_limits<double>::infinity())), Error);
  EXPECT_THROW(to_json(Value("\xFF")), Error);
}

TEST(Json, OfOthersOneOddFieldDoesNotCostTheRest) {
  const Value value = parse_json(R"({"a": 1, "b": 18446744073709551615, "a": {"c": [2]}, "d": 4,
                                     "e": 99999999999999999999999})",
                                 "text", Author::kOthers);
  EXPECT_EQ(value.as_object().size(), 4U);
  EXPECT_EQ(value.find("a")->find("c")->as_list().at(0).as_integer(), 2);
  EXPECT_DOUBLE_EQ(value.find("b")->as_number(), 18446744073709551615.0);
  EXPECT_EQ(value.find("d")->as_integer(), 4);
  EXPECT_DOUBLE_EQ(value.find("e")->as_number(), 1e23);
  EXPECT_THROW(parse_json(R"({"a": 1, "a": 2})", "text"), InputError);
  EXPECT_THROW(parse_json("[1,]", "text", Author::kOthers), InputError);
}

}  // namespace
}  // namespace falcon::base
