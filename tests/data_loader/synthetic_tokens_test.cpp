#include "data/synthetic_tokens.h"

#include <array>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"

namespace falcon::data {
namespace {

struct Sample {
  std::vector<std::int64_t> ids, types, mask;
  std::int64_t start = -1, end = -1;
  std::int64_t used() const {
    std::int64_t count = 0;
    for (const std::int64_t m : mask) count += m;
    return count;
  }
  friend bool operator==(const Sample&, const Sample&) = default;
};

Sample read(const Dataset& set, const SampleKey& key) {
  const auto length = static_cast<std::size_t>(set.layout()[0].sample_shape[0]);
  // every byte must be written: start from values that no sample has
  Sample sample{std::vector<std::int64_t>(length, -7), std::vector<std::int64_t>(length, -7),
                std::vector<std::int64_t>(length, -7)};
  const std::array<std::byte*, 5> destinations = {reinterpret_cast<std::byte*>(sample.ids.data()),
                                                  reinterpret_cast<std::byte*>(sample.types.data()),
                                                  reinterpret_cast<std::byte*>(sample.mask.data()),
                                                  reinterpret_cast<std::byte*>(&sample.start),
                                                  reinterpret_cast<std::byte*>(&sample.end)};
  ReadCost cost;
  SkippedItem skipped;
  const auto scratch = set.make_scratch();
  EXPECT_TRUE(set.read(key, destinations, *scratch, cost, skipped));
  EXPECT_EQ(cost.file_bytes, 0);
  return sample;
}

SyntheticTokens set_of(std::int64_t length) {
  DatasetOptions options;
  options.task = "question_answering";
  options.sequence_length = length;
  return SyntheticTokens(options);
}

/// [CLS] question [SEP] window [SEP] padding, and an answer in the window or none.
void expect_well_formed(const Sample& sample) {
  const std::int64_t length = static_cast<std::int64_t>(sample.ids.size());
  const std::int64_t used = sample.used();
  ASSERT_GE(used, 5);
  ASSERT_LE(used, length);
  EXPECT_EQ(sample.ids[0], 101);
  std::vector<std::int64_t> separators;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto place = static_cast<std::size_t>(i);
    EXPECT_EQ(sample.mask[place], i < used ? 1 : 0);
    if (sample.ids[place] == 102) separators.push_back(i);
    if (i >= used) {
      EXPECT_EQ(sample.ids[place], 0);
    }
    const bool is_word = sample.ids[place] >= 1000 && sample.ids[place] < 30522;
    if (i > 0 && i < used) {
      EXPECT_TRUE(is_word || sample.ids[place] == 102) << sample.ids[place];
    }
  }
  ASSERT_EQ(separators.size(), 2U);
  EXPECT_EQ(separators[1], used - 1);
  for (std::int64_t i = 0; i < length; ++i) {
    EXPECT_EQ(sample.types[static_cast<std::size_t>(i)], i > separators[0] && i < used ? 1 : 0);
  }
  EXPECT_LE(sample.start, sample.end);
  if (sample.end == 0) return;
  EXPECT_GT(sample.start, separators[0]);
  EXPECT_LT(sample.end, separators[1]);
}

TEST(SyntheticTokens, AreAFunctionOfSeedAndIndexOnly) {
  const SyntheticTokens set = set_of(96);
  EXPECT_EQ(read(set, {1, 0, 7}), read(set, {1, 5, 7}));
  EXPECT_NE(read(set, {1, 0, 7}).ids, read(set, {2, 0, 7}).ids);
  EXPECT_NE(read(set, {1, 0, 7}).ids, read(set, {1, 0, 8}).ids);
}

TEST(SyntheticTokens, AreWellFormedForEveryLength) {
  for (const std::int64_t length : {8, 9, 16, 33, 64, 384, 512}) {
    const SyntheticTokens set = set_of(length);
    for (std::int64_t index = 0; index < 100; ++index) {
      SCOPED_TRACE(std::to_string(length) + " " + std::to_string(index));
      expect_well_formed(read(set, {3, 0, index}));
    }
  }
}

// squad_pack_features.json of train-v1.1: 684 windows of 384 with 136220 tokens, 659 hold their
// answer, which begins at token 87 and ends 2.8 tokens later in the mean; the mean id is 4482. At
// 64 tokens 99 of 100 are used and 22 of 100 windows hold the answer.
TEST(SyntheticTokens, HaveTheStatisticsOfSquad) {
  constexpr std::int64_t kSamples = 3000;
  const SyntheticTokens set = set_of(384);
  double used = 0, answered = 0, start = 0, more = 0, ids = 0;
  std::set<std::int64_t> words;
  for (std::int64_t index = 0; index < kSamples; ++index) {
    const Sample sample = read(set, {0, 0, index});
    used += static_cast<double>(sample.used());
    for (const std::int64_t id : sample.ids) {
      ids += static_cast<double>(id);
      words.insert(id);
    }
    if (sample.end == 0) continue;
    ++answered;
    start += static_cast<double>(sample.start);
    more += static_cast<double>(sample.end - sample.start);
  }
  EXPECT_NEAR(used / kSamples, 136220.0 / 684, 6);
  EXPECT_NEAR(answered / kSamples, 659.0 / 684, 0.02);
  EXPECT_NEAR(start / answered, 57585.0 / 659, 15);
  EXPECT_NEAR(more / answered, (59457.0 - 57585.0) / 659, 0.4);
  EXPECT_NEAR(ids / used, 610526534.0 / 136220, 700);
  EXPECT_GT(words.size(), 20000U);
}

TEST(SyntheticTokens, ShortSequencesAreWindowsMostlyWithoutTheAnswer) {
  const SyntheticTokens set = set_of(64);
  double used = 0, answered = 0;
  for (std::int64_t index = 0; index < 2000; ++index) {
    const Sample sample = read(set, {0, 0, index});
    used += static_cast<double>(sample.used());
    answered += sample.end > 0 ? 1 : 0;
  }
  EXPECT_GT(used / (2000 * 64), 0.93);
  EXPECT_NEAR(answered / 2000, 0.22, 0.13);
}

TEST(SyntheticTokens, SayWhatTheyAre) {
  const SyntheticTokens set = set_of(384);
  EXPECT_EQ(set.size(), 88524);
  const auto facts = set.facts();
  EXPECT_EQ(facts.at("sequence_length"), "384");
  EXPECT_NEAR(std::stod(facts.at("padding_share")), 1 - 199.0 / 384, 0.03);
  EXPECT_THAT(facts.at("statistics"), testing::HasSubstr("SQuAD"));
  EXPECT_EQ(facts.count("classes"), 0U);
  EXPECT_EQ(set.layout()[2].name, "attention_mask");
  EXPECT_THAT(set.layout()[4].sample_shape, testing::IsEmpty());
}

TEST(SyntheticTokens, RefuseNothingness) {
  EXPECT_THROW(set_of(7), Error);
  DatasetOptions options;
  options.count = 0;
  EXPECT_THROW(SyntheticTokens{options}, Error);
}

TEST(DatasetCatalog, SyntheticFollowsTheTask) {
  DatasetOptions options;
  EXPECT_EQ(make_dataset(options)->layout()[0].name, "images");
  options.task = "question_answering";
  EXPECT_EQ(make_dataset(options)->layout()[0].name, "input_ids");
  options.task = "juggling";
  try {
    make_dataset(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("question_answering"));
  }
}

}  // namespace
}  // namespace falcon::data
