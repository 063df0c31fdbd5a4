// The rules of the tokenizer on made vocabularies; squad_golden_test.cpp has the library's answers.
#include "data/wordpiece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data_squad/squad_files.h"

namespace falcon::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> pieces(const std::string& words, const std::string& text) {
  const Vocabulary vocabulary = test::vocabulary_of(words);
  std::vector<std::string> out;
  for (const Token& token : WordPiece(vocabulary).encode(text)) {
    out.push_back(vocabulary.token(token.id));
  }
  return out;
}

TEST(WordPiece, TakesTheLongestPieceFirst) {
  EXPECT_THAT(pieces("un una ##aff ##able unaff", "unaffable"), ElementsAre("unaff", "##able"));
  EXPECT_THAT(pieces("un ##aff ##able", "unaffable"), ElementsAre("un", "##aff", "##able"));
}

TEST(WordPiece, AWordWithAnUnknownRestIsUnknownAsAWhole) {
  EXPECT_THAT(pieces("un ##aff the", "unaffable the"), ElementsAre("[UNK]", "the"));
  EXPECT_THAT(pieces("able", "able xable"), ElementsAre("able", "[UNK]"));  // able is no ##able
}

TEST(WordPiece, LowersAndDropsAccents) {
  EXPECT_THAT(pieces("cafe uber", "CAF\u00c9 \u00dcber cafe\u0301"),
              ElementsAre("cafe", "uber", "cafe"));
}

TEST(WordPiece, PunctuationAndIdeographsStandAlone) {
  EXPECT_THAT(pieces("a b , $ \u4e2d", "a,b$\u4e2db"),
              ElementsAre("a", ",", "b", "$", "\u4e2d", "b"));
}

TEST(WordPiece, ControlCharactersVanishAndSpacesOfAllKindsSeparate) {
  EXPECT_THAT(pieces("ab c", std::string("a\0b", 3) + "\u00a0c\t\u200bc"),
              ElementsAre("ab", "c", "c"));
  EXPECT_THAT(pieces("a", " \n "), IsEmpty());
}

TEST(WordPiece, WordsAboveAHundredCharactersAreUnknown) {
  EXPECT_EQ(pieces("a ##a", std::string(100, 'a')).size(), 100u);
  EXPECT_THAT(pieces("a ##a", std::string(101, 'a')), ElementsAre("[UNK]"));
}

TEST(WordPiece, SpecialTokensInTextAreSpecialAndTheirLookalikesAreNot) {
  EXPECT_THAT(pieces("x y [ ] sep", "x[SEP]y [sep]"),
              ElementsAre("x", "[SEP]", "y", "[", "sep", "]"));
}

TEST(WordPiece, PlacesCountCharactersOfTheText) {
  const WordPiece tokenizer(test::vocabulary_of("caf ##e bar"));
  const Vocabulary vocabulary = test::vocabulary_of("caf ##e bar");
  // two emoji before, a combining accent behind the e
  EXPECT_THAT(tokenizer.encode("\U0001F600\U0001F600 Cafe\u0301 [SEP]bar"),
              ElementsAre(Token{vocabulary.unknown(), 0, 2}, Token{5, 3, 6}, Token{6, 6, 7},
                          Token{vocabulary.sep(), 9, 14}, Token{7, 14, 17}));
}

// Marks that are no accents are put in canonical order: U+302E has class 224, U+1D165 216.
TEST(WordPiece, MarksAreInCanonicalOrder) {
  EXPECT_THAT(pieces("a\U0001D165\u302E", "a\u302E\U0001D165"), ElementsAre("a\U0001D165\u302E"));
}

}  // namespace
}  // namespace falcon::data
