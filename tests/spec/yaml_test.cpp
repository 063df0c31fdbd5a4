// YAML 1.2 core values and their places.
#include "spec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "falconbench/errors.h"

namespace falcon::spec {
namespace {

using base::Value;
using testing::StartsWith;

Value scalar(const std::string& text) {
  return *parse_yaml("x: " + text + "\n", "f").find("x");
}

std::string refusal(const std::string& text) {
  try {
    return "read as " + base::to_json(parse_yaml(text, "f"));
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Yaml, PlainScalarsFollowTheCoreSchema) {
  EXPECT_EQ(scalar("12"), Value(12));
  EXPECT_EQ(scalar("-0"), Value(0));
  EXPECT_EQ(scalar("+7"), Value(7));
  EXPECT_EQ(scalar("-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(scalar("1e3"), Value(1000.0));
  EXPECT_EQ(scalar("1."), Value(1.0));
  EXPECT_EQ(scalar("-.5"), Value(-0.5));
  EXPECT_EQ(scalar("+0.1E-2"), Value(0.001));
  EXPECT_EQ(scalar("true"), Value(true));
  EXPECT_EQ(scalar("FALSE"), Value(false));
  EXPECT_EQ(scalar("~"), Value());
  EXPECT_EQ(scalar(""), Value());
  EXPECT_EQ(scalar("null"), Value());
}

TEST(Yaml, AllElseIsText) {
  for (const char* text : {"resnet50", "1.2.3", "GPU-1", "inf", "nan", "tRUE", "1e", "--1",
                           "2001-01-01", "/data", "a:b"}) {
    EXPECT_EQ(scalar(text), Value(text));
    EXPECT_EQ(scalar(text).ambiguity, "") << text;
  }
  EXPECT_EQ(scalar("0000:18:00.0"), Value("0000:18:00.0"));
}

TEST(Yaml, QuotedScalarsAreText) {
  for (const char* text : {"12", "true", "null", "0100", ""}) {
    EXPECT_EQ(scalar("\"" + std::string(text) + "\""), Value(text));
    EXPECT_EQ(scalar("'" + std::string(text) + "'"), Value(text));
    EXPECT_EQ(scalar("\"" + std::string(text) + "\"").ambiguity, "");
  }
  EXPECT_EQ(scalar("'it''s'"), Value("it's"));
  EXPECT_EQ(scalar("\"a\\\"\\\\\""), Value("a\"\\"));
}

TEST(Yaml, WhatOthersReadDifferentlyIsTextThatSaysSo) {
  for (const char* text : {"0100",
                           "08",
                           "-012",
                           "0x1F",
                           "0o17",
                           "0b1",
                           "1_000",
                           "1_0.5",
                           "1:30",
                           "190:20:30",
                           "yes",
                           "No",
                           "on",
                           "OFF",
                           "y",
                           "N",
                           ".inf",
                           "-.Inf",
                           ".NaN",
                           "99999999999999999999",
                           "-9223372036854775809",
                           "1e400"}) {
    EXPECT_EQ(scalar(text), Value(text));
    EXPECT_NE(scalar(text).ambiguity, "") << text;
  }
}

TEST(Yaml, EveryValueAndKeyKnowsItsPlace) {
  const Value tree =
      parse_yaml("# c\r\na:\r\n  - 1\r\n  - {\xC3\xA9: x, c: y}\r\nd: |\r\n  t\r\n", "f");
  const auto place = [](const base::Mark& mark) {
    return mark.source + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
  };
  const Value& list = *tree.find("a");
  EXPECT_EQ(place(tree.mark), "f:2:1");
  EXPECT_EQ(place(list.as_list()[0].mark), "f:3:5");
  EXPECT_EQ(place(list.as_list()[1].as_object()[0].mark), "f:4:6");
  EXPECT_EQ(place(list.as_list()[1].find("\xC3\xA9")->mark), "f:4:9") << "characters, not bytes";
  EXPECT_EQ(place(list.as_list()[1].find("c")->mark), "f:4:15");
  EXPECT_EQ(place(tree.as_object()[1].mark), "f:5:1");
  EXPECT_EQ(*tree.find("d"), Value("t\n"));
}

TEST(Yaml, AnEmptyValueStandsAtItsKey) {
  const Value tree = parse_yaml("a:\nb: 1\n", "f");
  EXPECT_EQ(tree.find("a")->mark.line, 1);
  EXPECT_EQ(base::to_json(parse_yaml("'a': \n\"b\" :\n? c\n:\nd: {e:, f: }\n", "f")),
            "{\"a\":null,\"b\":null,\"c\":null,\"d\":{\"e\":null,\"f\":null}}");
}

TEST(Yaml, WhatItDoesNotTakeIsNamedWithItsPlace) {
  EXPECT_THAT(refusal("a: 1\na: 2\n"), StartsWith("f:2:1: key \"a\" is given twice"));
  EXPECT_THAT(refusal("a: {b: 1, b: 2}\n"), StartsWith("f:1:11: key \"b\" is given twice"));
  EXPECT_THAT(refusal("a: &x 1\n"), StartsWith("f:1:4: the anchor &x"));
  EXPECT_THAT(refusal("a: *x\n"), StartsWith("f:1:4: an alias (*)"));
  EXPECT_THAT(refusal("a: !!str 1\n"), StartsWith("f:1:4: the tag tag:yaml.org,2002:str"));
  EXPECT_THAT(refusal("a: !mine {b: 1}\n"), StartsWith("f:1:4: the tag !mine"));
  EXPECT_THAT(refusal("a: 1\n---\nb: 1\n"), StartsWith("f:2:1: a second document"));
  EXPECT_THAT(refusal("[a]: 1\n"), StartsWith("f:1:1: a list or map as a key"));
  EXPECT_THAT(refusal("? {a: 1}\n: 1\n"), StartsWith("f:1:3: a list or map as a key"));
  EXPECT_THAT(refusal("~: 1\n"), StartsWith("f:1:1: a key is missing"));
  EXPECT_THAT(refusal("a:\n\tb: 1\n"), StartsWith("f:2:1: a tab as indentation"));
  EXPECT_THAT(refusal("a:\n  b: 1\n  \tc: 1\n"), StartsWith("f:3:3: a tab as indentation"));
  EXPECT_THAT(refusal("a: [1, 2\n"), StartsWith("f:2:1: invalid YAML: end of sequence flow"));
  EXPECT_THAT(refusal("a: 'x\n"), StartsWith("f:1:4: a quote ' without its end"));
  EXPECT_THAT(refusal("a: 'it''s\n"), StartsWith("f:1:4: a quote ' without its end"));
  EXPECT_THAT(refusal("a: \"x\\\"\nb: 1\n"), StartsWith("f:1:4: a quote \" without its end"));
  EXPECT_THAT(refusal("a: b\nc"), StartsWith("f:2:1: \"c\" without ':' and a value"));
  EXPECT_THAT(refusal("a: b\n'c'"), StartsWith("f:2:1: \"c\" without ':' and a value"));
  EXPECT_THAT(refusal("a: {b, c: 1}\n"), StartsWith("f:1:5: \"b\" without ':' and a value"));
  EXPECT_THAT(refusal("a: [[1, 2\n"), StartsWith("f:2:1: invalid YAML: end of sequence flow"));
  EXPECT_THAT(refusal("a: b: c\n"), StartsWith("f:1:5: invalid YAML"));
  EXPECT_THAT(refusal(" a: 1\nb: 2\n"), StartsWith("f:2:1: an indentation that fits nothing"));
  EXPECT_THAT(refusal("a: \x1B[31m\n"), StartsWith("f:1:4: the control character \\x1b"));
}

TEST(Yaml, OneDocumentWithMarkersIsOne) {
  EXPECT_EQ(*parse_yaml("%YAML 1.2\n---\na: 1\n...\n", "f").find("a"), Value(1));
  EXPECT_TRUE(parse_yaml("", "f").is_null());
  EXPECT_TRUE(parse_yaml("\n# nothing\n", "f").is_null());
}

TEST(Yaml, AliasesCannotBlowUp) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'm'; ++c) {
    const std::string name(1, c), before = "*" + std::string(1, static_cast<char>(c - 1));
    bomb += name + ": &" + name + " [" + before;
    for (int i = 0; i < 9; ++i) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_THAT(refusal(bomb), StartsWith("f:1:4: the anchor &a"));
}

}  // namespace
}  // namespace falcon::spec
