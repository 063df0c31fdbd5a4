#include "base/text.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/source_text.h"
#include "falconbench/errors.h"

namespace falcon::base {
namespace {

const std::vector<std::string> kWords = {"batch_size", "budget", "model", "fp16", "fp32"};

TEST(Text, NearestWordIsATypingErrorAway) {
  EXPECT_EQ(nearest("batchsize", kWords), "batch_size");
  EXPECT_EQ(nearest("budegt", kWords), "budget") << "two letters swapped";
  EXPECT_EQ(nearest("FP16", kWords), "fp16");
  EXPECT_EQ(nearest("modle", kWords), "model");
  EXPECT_EQ(nearest("optimizer", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest(std::string(100000, 'b'), kWords), "") << "no time spent on it";
}

TEST(Text, PrintableKeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("zw\xC3\xB6lf"), "zw\xC3\xB6lf");
  EXPECT_EQ(printable("a\x1B[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("\n\t\x7F"), "\\x0a\\x09\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m")
      << "a terminal takes U+009B for ESC [";
  EXPECT_EQ(printable("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "a surrogate is no character";
  EXPECT_EQ(printable("abcdef", 3), "abc... (6 bytes)");
  EXPECT_EQ(printable("abc", 3), "abc");
}

TEST(Text, Utf8Lengths) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("\xC3\xA9"), 2u);
  EXPECT_EQ(utf8_length("\xEF\xBF\xBD"), 3u);
  EXPECT_EQ(utf8_length("\xF4\x8F\xBF\xBF"), 4u);
  for (const char* bad : {"\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xC3("}) {
    EXPECT_EQ(utf8_length(bad), 0u);
    EXPECT_FALSE(is_utf8(std::string("x") + bad));
  }
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_TRUE(is_utf8(""));
}

TEST(Text, NumbersReadBackAsTheSame) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(1048576), "1048576");
  EXPECT_EQ(number_text(1e9), "1000000000");
  EXPECT_EQ(number_text(-3), "-3");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(std::stod(number_text(1.0 / 3.0)), 1.0 / 3.0);
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Text, SplitTrimJoin) {
  EXPECT_EQ(split("a..b", '.'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", '.'), std::vector<std::string>{""});
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim(" "), "");
  EXPECT_EQ(join_or(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(join_or(std::vector<std::string>{"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(join_or({}), "");
}

TEST(SourceText, PlacesCountCharactersAndLines) {
  const SourceText source(
      "\xEF\xBB\xBF"
      "a\xC3\xA9x\r\n\nend",
      "f");
  EXPECT_EQ(source.text().front(), 'a');
  EXPECT_EQ(source.mark_at(0).column, 1);
  EXPECT_EQ(source.mark_at(3).column, 3);
  EXPECT_EQ(source.mark_at(6).line, 2);
  EXPECT_EQ(source.mark_at(7).line, 3);
  EXPECT_EQ(source.mark_at(1000).line, 3);
  EXPECT_EQ(source.mark_at(1000).column, 4);
  EXPECT_EQ(SourceText("", "f").mark_at(5).line, 1);
}

TEST(SourceText, PlacesInOneLongLineCountCharacters) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "a\xC3\xA9\xE2\x82\xAC";
  const SourceText source(text, "f");
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(source.mark_at(6 * i).column, static_cast<int>(3 * i) + 1);
    EXPECT_EQ(source.mark_at(6 * i + 3).column, static_cast<int>(3 * i) + 3);
  }
  EXPECT_EQ(source.mark_at(text.size()).column, 3001);
  EXPECT_EQ(SourceText(std::string(512, 'x'), "f").mark_at(512).column, 513);
}

TEST(Fault, TextHasItsPartsAndNoControlCharacters) {
  EXPECT_EQ(to_text({"f", 3, 4, "a.b", "is wrong"}), "f:3:4: a.b: is wrong");
  EXPECT_EQ(to_text({"--set", 0, 0, "", "is wrong"}), "--set: is wrong");
  EXPECT_EQ(to_text({"f\x1B", 3, 0, "a\n", "is wrong"}), "f\\x1b:3: a\\x0a: is wrong");
}

}  // namespace
}  // namespace falcon::base
