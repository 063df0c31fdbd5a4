// The data set with its cache, on made sets.
#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/check_squad.h"
#include "data/make_squad.h"
#include "data/squad.h"
#include "data_squad/squad_files.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

DatasetOptions options_of(const fs::path& folder, const std::string& file = "train-v1.1.json") {
  DatasetOptions options;
  options.format = "squad";
  options.path = folder;
  options.subfolder = file;
  options.sequence_length = 128;
  options.doc_stride = 32;
  options.threads = 2;
  return options;
}

// Every tensor of every sample.
std::vector<std::vector<std::int64_t>> all_samples(const Dataset& dataset) {
  const std::vector<TensorLayout> layout = dataset.layout();
  const std::unique_ptr<ReadScratch> scratch = dataset.make_scratch();
  std::vector<std::vector<std::int64_t>> samples;
  for (std::int64_t index = 0; index < dataset.size(); ++index) {
    std::vector<std::vector<std::int64_t>> tensors;
    std::vector<std::byte*> places;
    for (const TensorLayout& tensor : layout) tensors.emplace_back(tensor.sample_bytes() / 8, -9);
    for (auto& tensor : tensors) places.push_back(reinterpret_cast<std::byte*>(tensor.data()));
    ReadCost cost;
    SkippedItem skipped;
    EXPECT_TRUE(dataset.read({1, 0, index}, places, *scratch, cost, skipped));
    for (auto& tensor : tensors) samples.push_back(std::move(tensor));
  }
  return samples;
}

class SquadDataset : public testing::Test {
 protected:
  void SetUp() override { make_squad(folder_ / "set", {60, 12, "v1.1", 5}, 2); }
  std::vector<fs::path> cached_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_ / "set/.falconbench-cache")) {
      files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
  }
  test::TemporaryFolder folder_;
};

TEST_F(SquadDataset, SamplesHaveBertsTensorsAndTheAnswerAtItsPlace) {
  const std::unique_ptr<Dataset> dataset = make_squad_dataset(options_of(folder_ / "set"));
  std::vector<std::string> names;
  for (const TensorLayout& tensor : dataset->layout()) names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("input_ids", "token_type_ids", "attention_mask", "start_positions",
                                 "end_positions"));
  EXPECT_GE(dataset->size(), 60);
  const auto samples = all_samples(*dataset);
  int answered = 0;
  for (std::size_t i = 0; i < samples.size(); i += 5) {
    ASSERT_THAT(samples[i], SizeIs(128));
    EXPECT_EQ(samples[i][0], 101);  // [CLS]
    const std::int64_t start = samples[i + 3][0];
    const std::int64_t end = samples[i + 4][0];
    ASSERT_LE(start, end);
    if (end == 0) continue;
    ++answered;
    ASSERT_LT(end, 128);
    EXPECT_EQ(samples[i + 1][static_cast<std::size_t>(start)], 1);  // in the context
    EXPECT_EQ(samples[i + 2][static_cast<std::size_t>(end)], 1);
  }
  EXPECT_GE(answered, 60);
  const auto facts = dataset->facts();
  EXPECT_EQ(facts.at("questions"), "60");
  EXPECT_EQ(facts.at("vocabulary_entries"), "30522");
}

TEST_F(SquadDataset, ACacheHitEqualsAMiss) {
  const Squad first(options_of(folder_ / "set"));
  EXPECT_EQ(first.facts().at("tokens_from"), "the text");
  ASSERT_THAT(cached_files(), SizeIs(2));
  const Squad second(options_of(folder_ / "set"));
  EXPECT_EQ(second.facts().at("tokens_from"), "the cache");
  EXPECT_EQ(all_samples(second), all_samples(first));
  EXPECT_EQ(second.tokens().question_ids, first.tokens().question_ids);
  auto facts = second.facts();
  facts["tokens_from"] = "the text";
  EXPECT_EQ(facts, first.facts());
  // another length is cut from the same tokens
  DatasetOptions longer = options_of(folder_ / "set");
  longer.sequence_length = 256;
  EXPECT_EQ(Squad(longer).facts().at("tokens_from"), "the cache");
}

TEST_F(SquadDataset, ACacheInAMadeSetDoesNotChangeTheSet) {
  const Squad dataset(options_of(folder_ / "set"));
  ASSERT_THAT(cached_files(), SizeIs(2));
  EXPECT_FALSE(make_squad(folder_ / "set", {60, 12, "v1.1", 5}, 2).made);
}

TEST_F(SquadDataset, AnotherTextOrVocabularyIsAnotherCache) {
  const Squad first(options_of(folder_ / "set"));
  const fs::path file = folder_ / "set/train-v1.1.json";
  test::write_text(file, test::read_text(file) + "\n");
  EXPECT_EQ(Squad(options_of(folder_ / "set")).facts().at("tokens_from"), "the text");
  const fs::path vocabulary = folder_ / "set/vocab.txt";
  test::write_text(vocabulary, test::read_text(vocabulary) + "[more]\n");
  EXPECT_EQ(Squad(options_of(folder_ / "set")).facts().at("tokens_from"), "the text");
  EXPECT_THAT(cached_files(), SizeIs(6));
}

TEST_F(SquadDataset, ADamagedCacheIsMadeAnew) {
  const auto expected = all_samples(Squad(options_of(folder_ / "set")));
  const std::vector<fs::path> files = cached_files();
  ASSERT_THAT(files, SizeIs(2));
  for (const fs::path& file : files) {
    const std::string whole = test::read_text(file);
    std::string changed = whole;
    changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 1);
    for (const std::string& damaged : {changed, whole.substr(0, whole.size() / 2), std::string()}) {
      test::write_text(file, damaged);
      const Squad again(options_of(folder_ / "set"));
      EXPECT_EQ(again.facts().at("tokens_from"), "the text") << file;
      EXPECT_THAT(again.facts().at("cache_note"), HasSubstr("made anew"));
      EXPECT_EQ(all_samples(again), expected);
      EXPECT_EQ(test::read_text(file), whole);
      EXPECT_EQ(Squad(options_of(folder_ / "set")).facts().at("tokens_from"), "the cache");
    }
  }
}

TEST_F(SquadDataset, TheCacheGoesToTheUsersFolderWhereTheDataCannotBeWritten) {
  ASSERT_EQ(setenv("XDG_CACHE_HOME", (folder_ / "home").c_str(), 1), 0);
  test::write_text(folder_ / "set/.falconbench-cache", "a file where the folder would be");
  const Squad first(options_of(folder_ / "set"));
  EXPECT_EQ(fs::path(first.facts().at("cache")).parent_path(), folder_ / "home/falconbench");
  EXPECT_EQ(Squad(options_of(folder_ / "set")).facts().at("tokens_from"), "the cache");
  test::write_text(folder_ / "nowhere", "a file");
  ASSERT_EQ(setenv("XDG_CACHE_HOME", (folder_ / "nowhere").c_str(), 1), 0);
  const Squad unkept(options_of(folder_ / "set"));
  unsetenv("XDG_CACHE_HOME");
  EXPECT_THAT(unkept.facts().at("cache_note"), HasSubstr("not kept"));
  EXPECT_EQ(all_samples(unkept), all_samples(first));
}

TEST_F(SquadDataset, QuestionsLeftOutAreCountedFromTheCacheToo) {
  const std::string context = "Ab cd ef gh";
  std::string long_question;
  for (int i = 0; i < 130; ++i) long_question += "a ";
  test::write_text(folder_ / "set/mine.json",
                   test::squad_json({{context,
                                      {{"good", "a?", {{"cd", 3}}, false},
                                       {"bad", "a?", {{"cd", 4}}, false},
                                       {"long", long_question, {{"cd", 3}}, false}}}}));
  for (int round = 0; round < 2; ++round) {
    const Squad dataset(options_of(folder_ / "set", "mine.json"));
    EXPECT_EQ(dataset.size(), 1);
    EXPECT_THAT(dataset.skip_counts_at_scan(),
                testing::UnorderedElementsAre(testing::Pair("answer_mismatch", 1),
                                              testing::Pair("question_too_long", 1)));
    ASSERT_THAT(dataset.skipped_at_scan(), SizeIs(2));
    EXPECT_EQ(dataset.skipped_at_scan()[0].item, "bad");
    EXPECT_EQ(dataset.skipped_at_scan()[1].item, "long");
  }
}

void expect_refused(const DatasetOptions& options, ExitCode code, const std::string& part) {
  try {
    Squad dataset(options);
    FAIL() << "accepted; expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST_F(SquadDataset, RefusalsNameTheFileOrTheKey) {
  expect_refused(options_of(folder_ / "set", "train-v2.0.json"), ExitCode::kHost,
                 "train-v2.0.json: no such file (data.train); there: dev-v1.1.json");
  DatasetOptions options = options_of(folder_ / "set");
  options.vocab = "words.txt";
  expect_refused(options, ExitCode::kHost,
                 "words.txt: no such file (data.vocab); there: vocab.txt");
  options = options_of(folder_ / "set");
  options.doc_stride = 124;
  expect_refused(options, ExitCode::kUsage, "it must be 0 to 123 at a sequence length of 128");
  test::write_text(folder_ / "set/none.json", "{\"data\": []}");
  expect_refused(options_of(folder_ / "set", "none.json"), ExitCode::kHost, "no usable question");
}

TEST(MakeSquad, TheSameOptionsGiveTheSameBytesWithAnyNumberOfThreads) {
  const test::TemporaryFolder folder;
  const MadeSet one = make_squad(folder / "one", {40, 8, "v1.1", 3}, 1);
  EXPECT_TRUE(one.made);
  EXPECT_EQ(one.files, 3);
  EXPECT_EQ(make_squad(folder / "three", {40, 8, "v1.1", 3}, 3).content_hash, one.content_hash);
  EXPECT_FALSE(make_squad(folder / "one", {40, 8, "v1.1", 3}).made);
  EXPECT_NE(make_squad(folder / "other", {40, 8, "v1.1", 4}).content_hash, one.content_hash);
  EXPECT_THROW(make_squad(folder / "one", {41, 8, "v1.1", 3}), Error);
  EXPECT_THROW(make_squad(folder / "bad", {0, 8, "v1.1", 3}), Error);
  EXPECT_THROW(make_squad(folder / "bad", {1, 0, "1.1", 3}), Error);
}

// Bounds around the numbers of 120 paragraphs of SQuAD v1.1: 5.5 questions each, contexts of 184
// tokens of which 2.5 % are above 384, 3.8 tokens an answer; and the places of BERT's vocabulary.
TEST(MakeSquad, MadeTextHasTheStatisticsOfTheOriginal) {
  const test::TemporaryFolder folder;
  make_squad(folder / "set", {2000, 0, "v1.1", 1}, 2);
  const Vocabulary vocabulary = Vocabulary::read(folder / "set/vocab.txt");
  EXPECT_EQ(vocabulary.size(), 30522);
  EXPECT_EQ(vocabulary.pad(), 0);
  EXPECT_EQ(vocabulary.find("[MASK]"), 103);
  EXPECT_EQ(vocabulary.find(","), 1010);
  EXPECT_EQ(vocabulary.find("."), 1012);
  EXPECT_EQ(vocabulary.find("?"), 1029);
  const SquadTokens tokens =
      tokenize_squad(folder / "set/train-v1.1.json", WordPiece(vocabulary), 2);
  EXPECT_EQ(tokens.questions.size(), 2000u);
  EXPECT_EQ(tokens.left_out.count(), 0);
  const auto paragraphs = static_cast<double>(tokens.contexts.size());
  EXPECT_NEAR(2000 / paragraphs, 5.5, 0.3);
  double sum = 0, above = 0, question = 0, answer = 0, unknown = 0;
  for (const SquadTokens::Context& context : tokens.contexts) {
    sum += static_cast<double>(context.tokens.count);
    above += context.tokens.count > 384 ? 1 : 0;
  }
  for (const std::int32_t id : tokens.ids) unknown += id == vocabulary.unknown() ? 1 : 0;
  const auto features = make_features(tokens, {1024, 128}, [](std::size_t) { FAIL(); });
  for (const SquadFeature& feature : features) answer += feature.end - feature.start + 1;
  for (const auto& one : tokens.questions) question += static_cast<double>(one.tokens.count);
  EXPECT_NEAR(sum / paragraphs, 184, 25);
  EXPECT_NEAR(above / paragraphs, 0.025, 0.025);
  EXPECT_GT(above, 0);
  EXPECT_NEAR(question / 2000, 14, 4);
  EXPECT_NEAR(answer / 2000, 3.8, 1);
  EXPECT_LT(unknown / static_cast<double>(tokens.ids.size()), 0.001);
}

TEST(MakeSquad, Version2HasImpossibleQuestions) {
  const test::TemporaryFolder folder;
  make_squad(folder / "set", {300, 50, "v2.0", 1}, 2);
  std::map<std::string, SquadFileFacts> facts;
  for (const char* name : {"train-v2.0.json", "dev-v2.0.json"}) {
    facts[name] = read_squad(
        folder / "set" / name, [](SquadParagraph&&) {},
        [](SkippedItem item) { ADD_FAILURE() << item.detail; });
  }
  EXPECT_EQ(facts["train-v2.0.json"].questions, 300);
  EXPECT_NEAR(static_cast<double>(facts["train-v2.0.json"].impossible), 135, 30);
  EXPECT_EQ(facts["train-v2.0.json"].version, "v2.0");
  const SquadFileFacts& dev = facts["dev-v2.0.json"];
  EXPECT_EQ(dev.answers, 3 * (dev.questions - dev.impossible));
}

TEST(CheckSquad, ListsEveryBadRecordOfEveryFile) {
  const test::TemporaryFolder folder;
  make_squad(folder / "set", {20, 5, "v1.1", 1});
  EXPECT_THAT(check_squad_set(folder / "set").left_out, IsEmpty());
  EXPECT_THAT(check_squad_set(folder / "set").warnings, IsEmpty());
  test::write_text(folder / "set/a.json", test::squad_json({{"Ab cd",
                                                             {{"x", "?", {{"cd", 3}}, false},
                                                              {"y", "?", {{"cd", 2}}, false},
                                                              {"x", "?", {}, true},
                                                              {"z", "?", {{"cd", 30}}, false}}}}));
  test::write_text(folder / "set/cut.json", "{\"data\": [");
  test::write_text(folder / "set/vocab.txt", "[PAD]\n");
  const SetCheck check = check_squad_set(folder / "set");
  std::vector<std::string> items;
  for (const SkippedItem& item : check.left_out) items.push_back(item.item + " " + item.reason);
  EXPECT_THAT(items, ElementsAre("a.json y answer_mismatch", "a.json z answer_outside",
                                 "cut.json unreadable", "vocab.txt vocabulary"));
  EXPECT_THAT(check.warnings, ElementsAre(HasSubstr("a.json: 1 questions have the id"),
                                          HasSubstr("falconbench_data.json")));
  EXPECT_THAT(check.summary, HasSubstr("27 usable questions (1 of them impossible)"));
  fs::create_directory(folder / "empty");
  EXPECT_THROW(check_squad_set(folder / "empty"), Error);
  EXPECT_THROW(check_squad_set(folder / "nothing"), Error);
}

}  // namespace
}  // namespace falcon::data
