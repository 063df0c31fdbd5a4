#include "platform/dump/captured_text.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace falcon::platform {
namespace {

using namespace std::string_view_literals;

TEST(CapturedText, BytesBecomeUtf8) {
  EXPECT_EQ(as_utf8("a\xEF\xBB\xBF"sv), "a\xEF\xBB\xBF");
  EXPECT_EQ(as_utf8("\xEF\xBB\xBF"
                    "a"sv),
            "a");
  EXPECT_EQ(as_utf8("a\xAE\0b"sv), std::string("a?\0b", 4));
  EXPECT_EQ(as_utf8(""), "");
}

TEST(CapturedText, Utf16OfBothOrders) {
  EXPECT_EQ(as_utf8("\xFF\xFE"
                    "G\0\xE9\0\xAC\x20\n\0"sv),
            "G\u00E9\u20AC\n");
  EXPECT_EQ(as_utf8("\xFE\xFF\0G\0\n"sv), "G\n");
  EXPECT_EQ(as_utf8("\xFF\xFE\x00\xD8\x00\xDC"sv), "??");  // a pair
  EXPECT_EQ(as_utf8("\xFF\xFEG"sv), "");                   // half a character
}

TEST(CapturedText, FencesQuotationAndIndentationGo) {
  EXPECT_EQ(without_wrapping("```text\n  a\n\n    b\n  ```\n"), "a\n\n  b\n");
  EXPECT_EQ(without_wrapping("> \ta\n>\n> b\n"), "\ta\n\nb\n");
  EXPECT_EQ(without_wrapping("\ta\n\tb"), "a\nb");
}

TEST(CapturedText, AnEndWithinALineStaysOne) {
  EXPECT_EQ(without_wrapping("  a\n  "), "a");
  EXPECT_EQ(without_wrapping("```\na\n```"), "a\n");  // the fence shows that nothing is missing
}

TEST(CapturedText, WhatBelongsToTheTextStays) {
  for (const char* text : {"\ta\nb\n", "> a\nb\n", "  a\n\tb\n", "\n \n", ""}) {
    EXPECT_EQ(without_wrapping(text), text);
  }
}

}  // namespace
}  // namespace falcon::platform
