// Windows and places of answers on made words, one token a word; squad_golden_test.cpp has the
// library's numbers.
#include "data/squad_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data_squad/squad_files.h"

namespace falcon::data {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr std::int64_t kLength = 12;

class SquadFeatures : public testing::Test {
 protected:
  SquadFeatures() {
    std::string words = "who";
    for (char c = 'a'; c <= 'z'; ++c) words += std::string(" ") + c;
    vocabulary_ = test::vocabulary_of(words);
  }

  // The context "a b c ..." of that many words, and an answer of `count` words from word `first`.
  SquadParagraph paragraph(int words, int first, int count,
                           const std::string& question = "Who?") const {
    SquadParagraph out;
    for (int i = 0; i < words; ++i) out.context += std::string(i > 0 ? " " : "") + letter(i);
    SquadQuestion asked{"q", question, {}, count == 0};
    if (count > 0) {
      asked.answers.push_back({out.context.substr(static_cast<std::size_t>(2 * first),
                                                  static_cast<std::size_t>(2 * count - 1)),
                               2 * first});
    }
    out.questions = {asked};
    return out;
  }
  static char letter(int i) { return static_cast<char>('a' + i % 26); }

  std::vector<SquadFeature> features(const SquadParagraph& paragraph, std::int64_t stride = 2,
                                     std::int64_t length = kLength) {
    tokens_ = {};
    tokenize_paragraphs({paragraph}, WordPiece(*vocabulary_), 1, tokens_);
    left_out_.clear();
    return make_features(tokens_, {length, stride}, [&](std::size_t q) { left_out_.push_back(q); });
  }
  std::vector<std::int64_t> ids(const SquadFeature& feature) {
    write_sequence(tokens_, feature, *vocabulary_, {ids_, types_, mask_});
    return ids_;
  }

  std::optional<Vocabulary> vocabulary_;
  SquadTokens tokens_;
  std::vector<std::size_t> left_out_;
  std::vector<std::int64_t> ids_ = std::vector<std::int64_t>(kLength, -1);
  std::vector<std::int64_t> types_ = ids_;
  std::vector<std::int64_t> mask_ = ids_;
};

TEST_F(SquadFeatures, AShortContextIsOneWindowWithPadding) {
  const auto all = features(paragraph(4, 1, 2, "  \x1Fwho WHO"));
  ASSERT_EQ(all.size(), 1u);
  // [CLS] who who [SEP] a b c d [SEP]
  EXPECT_THAT(ids(all[0]), ElementsAre(2, 5, 5, 3, 6, 7, 8, 9, 3, 0, 0, 0));
  EXPECT_THAT(types_, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT(mask_, ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0));
  EXPECT_EQ(sequence_tokens(tokens_, all[0]), 9);
  EXPECT_EQ(all[0].start, 5u);
  EXPECT_EQ(all[0].end, 6u);
}

// "who ?" is unknown and takes 1 token a word: room is 12 - 2 - 3 = 7 context tokens.
TEST_F(SquadFeatures, NeighbouringWindowsShareDocStrideTokens) {
  const auto all = features(paragraph(17, 5, 2));
  ASSERT_EQ(all.size(), 3u);
  std::vector<std::uint32_t> first, count;
  for (const SquadFeature& feature : all) {
    first.push_back(feature.first_token);
    count.push_back(feature.num_tokens);
  }
  EXPECT_THAT(first, ElementsAre(0, 5, 10));
  EXPECT_THAT(count, ElementsAre(7, 7, 7));
  EXPECT_EQ(all[0].start, 4u + 5);  // words 5 and 6 are the last two of the first window
  EXPECT_EQ(all[0].end, 4u + 6);
  EXPECT_EQ(all[1].start, 4u);  // and the first two of the second
  EXPECT_EQ(all[1].end, 5u);
  EXPECT_EQ(all[2].start, 0u);
  EXPECT_EQ(all[2].end, 0u);
}

TEST_F(SquadFeatures, AnAnswerAtTheLastContextTokenKeepsItsPlace) {
  const auto all = features(paragraph(7, 6, 1));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].start, 10u);  // run_qa.py gives 11, the last position of the sequence
  EXPECT_EQ(all[0].end, 10u);
}

TEST_F(SquadFeatures, AnAnswerInsideAWordTakesItsToken) {
  SquadParagraph inside{"abc abc abc", {{"q", "who", {{"bc ab", 1}}, false}}};
  vocabulary_ = test::vocabulary_of("who abc");
  const auto all = features(inside);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].start, 3u);
  EXPECT_EQ(all[0].end, 4u);
}

TEST_F(SquadFeatures, WithoutAnAnswerBothPlacesAreTheFirst) {
  const auto all = features(paragraph(17, 0, 0));
  ASSERT_EQ(all.size(), 3u);
  for (const SquadFeature& feature : all) EXPECT_EQ(feature.start + feature.end, 0u);
}

TEST_F(SquadFeatures, AnEmptyContextIsAWindow) {
  const auto all = features({"", {{"q", "who", {}, true}}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(ids(all[0]), ElementsAre(2, 5, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST_F(SquadFeatures, AQuestionThatLeavesNoRoomIsLeftOut) {
  const std::string eight = "who who who who who who who who";  // room for 1
  EXPECT_THAT(features(paragraph(4, 0, 1, eight)), IsEmpty());
  EXPECT_THAT(left_out_, ElementsAre(0));
  EXPECT_EQ(features(paragraph(1, 0, 1, eight)).size(), 1u);  // it all fits
  EXPECT_THAT(left_out_, IsEmpty());
  EXPECT_THAT(features(paragraph(1, 0, 1, eight + " who")).size(), 0u);
  EXPECT_THAT(features(paragraph(0, 0, 0, eight + " who")).size(), 1u);
  EXPECT_THAT(features(paragraph(0, 0, 0, eight + " who who")).size(), 0u);
  EXPECT_EQ(features(paragraph(4, 0, 1, eight), 0).size(), 4u);  // no overlap: one token a window
}

TEST(SquadTokens, AreTheSameForAnyNumberOfThreads) {
  std::vector<SquadParagraph> paragraphs;
  for (int i = 0; i < 40; ++i) {
    const std::string word(static_cast<std::size_t>(i % 7 + 1), 'a');
    paragraphs.push_back({word + " b " + word,
                          {{"q" + std::to_string(2 * i), "a" + word, {{"b", i % 7 + 2}}, false},
                           {"q" + std::to_string(2 * i + 1), "b " + word, {}, true}}});
  }
  const test::TemporaryFolder folder;
  test::write_text(folder / "s.json", test::squad_json(paragraphs));
  const WordPiece tokenizer(test::vocabulary_of("a ##a b"));
  const SquadTokens one = tokenize_squad(folder / "s.json", tokenizer, 1);
  EXPECT_EQ(one.questions.size(), 80u);
  for (const int threads : {2, 5, 16}) {
    const SquadTokens many = tokenize_squad(folder / "s.json", tokenizer, threads);
    EXPECT_EQ(many.ids, one.ids);
    EXPECT_EQ(many.begins, one.begins);
    EXPECT_EQ(many.ends, one.ends);
    ASSERT_EQ(many.questions.size(), one.questions.size());
    for (std::size_t q = 0; q < one.questions.size(); ++q) {
      EXPECT_EQ(many.questions[q].tokens.first, one.questions[q].tokens.first);
      EXPECT_EQ(many.questions[q].context, one.questions[q].context);
      EXPECT_EQ(many.questions[q].answer_begin, one.questions[q].answer_begin);
    }
  }
}

}  // namespace
}  // namespace falcon::data
