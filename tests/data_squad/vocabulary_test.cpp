#include "data/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data_squad/squad_files.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

using testing::HasSubstr;

const std::string kSpecial = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";

std::string refusal(const std::string& text) {
  try {
    Vocabulary(text, "v.txt");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Vocabulary, IdsAreTheNumbersOfTheLines) {
  const Vocabulary vocabulary("[unused]\n" + kSpecial + "the\n##ing\n", "v.txt");
  EXPECT_EQ(vocabulary.size(), 7);
  EXPECT_EQ(vocabulary.pad(), 1);
  EXPECT_EQ(vocabulary.unknown(), 2);
  EXPECT_EQ(vocabulary.cls(), 3);
  EXPECT_EQ(vocabulary.sep(), 4);
  EXPECT_EQ(vocabulary.find("##ing"), 6);
  EXPECT_EQ(vocabulary.find("ing"), std::nullopt);
  EXPECT_EQ(vocabulary.token(5), "the");
}

TEST(Vocabulary, LineEndsAndByteOrderMarkDoNotCount) {
  const Vocabulary plain(kSpecial + "the", "v.txt");
  const Vocabulary windows("\xEF\xBB\xBF[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\nthe\r\n\r\n", "v.txt");
  EXPECT_EQ(windows.size(), 5);
  EXPECT_EQ(windows.content_hash(), plain.content_hash());
  EXPECT_NE(Vocabulary(kSpecial + "a", "v.txt").content_hash(), plain.content_hash());
}

TEST(Vocabulary, RefusesWhatWouldShiftIds) {
  EXPECT_THAT(refusal(kSpecial + "a\nb\na\n"),
              HasSubstr("v.txt:7:1: the token \"a\" is given twice, first in line 5"));
  EXPECT_THAT(refusal(kSpecial + "a\n\nb\n"), HasSubstr("v.txt:6:1: an empty line"));
  EXPECT_THAT(refusal(kSpecial + "\xFF\n"), HasSubstr("v.txt:5:1:"));
  EXPECT_THAT(refusal("[PAD]\n[UNK]\n[CLS]\n"), HasSubstr("v.txt: the token [SEP] is missing"));
  EXPECT_THAT(refusal(""), HasSubstr("[PAD] is missing"));
}

TEST(Vocabulary, AMissingFileIsNamed) {
  try {
    Vocabulary::read("nowhere/vocab.txt");
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kHost);
    EXPECT_THAT(error.what(), HasSubstr("nowhere/vocab.txt"));
  }
}

}  // namespace
}  // namespace falcon::data
