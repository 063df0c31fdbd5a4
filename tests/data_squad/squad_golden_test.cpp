// Tokens and features against those of the common library (tokenizer.jsonl, squad_features.jsonl,
// squad_pack_features.json) where they are at hand.
#include <array>
#include <iostream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "data/squad_features.h"
#include "data/squad_tokens.h"
#include "data_squad/squad_files.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

using test::Json;

// A vocabulary that gives the same tokens as the whole one: of a word it takes the longest piece
// first, and every piece that was taken is in it.
Vocabulary vocabulary_of_lines(const std::vector<Json>& lines) {
  std::map<std::size_t, std::string> tokens = {
      {0, "[PAD]"}, {100, "[UNK]"}, {101, "[CLS]"}, {102, "[SEP]"}, {103, "[MASK]"}};
  for (const Json& line : lines) {
    for (std::size_t i = 0; i < line.at("ids").size(); ++i) {
      tokens[line.at("ids")[i]] = line.at("tokens")[i];
    }
  }
  std::string text;
  for (std::size_t id = 0; id <= tokens.rbegin()->first; ++id) {
    const auto found = tokens.find(id);
    text += found != tokens.end() ? found->second + "\n" : "[hole " + std::to_string(id) + "]\n";
  }
  return Vocabulary(text, "made");
}

TEST(SquadGolden, TokensAreThoseOfTheLibrary) {
  const auto file = test::reference_data("tokenizer.jsonl");
  ASSERT_TRUE(file);
  const std::vector<Json> lines = test::read_json_lines(*file);
  const WordPiece tokenizer(vocabulary_of_lines(lines));
  int departures = 0;
  for (const Json& line : lines) {
    std::vector<Token> expected;
    for (std::size_t i = 0; i < line.at("ids").size(); ++i) {
      const Json& offsets = line.at("offsets")[i];
      expected.push_back({line.at("ids")[i], offsets[0], offsets[1]});
    }
    EXPECT_TRUE(tokenizer.encode(line.at("text").get<std::string>()) == expected) << line.dump();
    departures += line.contains("published_rules_differ") ? 1 : 0;
  }
  EXPECT_GT(lines.size(), 300u);
  EXPECT_GT(departures, 15);  // the library's answer, not that of the published rules
  std::cout << lines.size() << " strings of " << *file << "\n";
}

class SquadPack : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::outside_data("squad-mini");
    if (!folder_) GTEST_SKIP() << "the SQuAD texts are not here: FALCONBENCH_DATA_DIR";
    vocabulary_.emplace(Vocabulary::read(*folder_ / "vocab.txt"));
    tokenizer_.emplace(*vocabulary_);
  }
  std::vector<std::int64_t> ids_of(const SquadTokens& tokens, const SquadFeature& feature,
                                   std::int64_t length) const {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(length)), types(ids), mask(ids);
    write_sequence(tokens, feature, *vocabulary_, {ids, types, mask});
    ids.resize(static_cast<std::size_t>(sequence_tokens(tokens, feature)));
    return ids;
  }
  std::optional<std::filesystem::path> folder_;
  std::optional<Vocabulary> vocabulary_;
  std::optional<WordPiece> tokenizer_;
};

class Crc32 {
 public:
  void add(std::uint32_t word) {
    for (int i = 0; i < 4; ++i) {
      value_ ^= (word >> (8 * i)) & 0xFF;
      for (int bit = 0; bit < 8; ++bit) {
        value_ = (value_ >> 1) ^ ((value_ & 1) != 0 ? 0xEDB88320U : 0U);
      }
    }
  }
  std::uint32_t value() const { return ~value_; }

 private:
  std::uint32_t value_ = 0xFFFFFFFFU;
};

TEST_F(SquadPack, WholeFilesHaveTheReferencesFeatures) {
  const auto file = test::reference_data("squad_pack_features.json");
  ASSERT_TRUE(file);
  const Json packs = Json::parse(test::read_text(*file));
  for (const auto& [name, expected] : packs.items()) {
    SCOPED_TRACE(name);
    const std::size_t blank = name.find(' ');
    const std::size_t slash = name.find('/');
    const std::int64_t length = std::stoll(name.substr(blank + 1));
    const WindowOptions options{length, std::stoll(name.substr(slash + 1))};
    const SquadTokens tokens = tokenize_squad(*folder_ / name.substr(0, blank), *tokenizer_, 2);
    EXPECT_EQ(tokens.left_out.count(), 0) << tokens.left_out.summary();
    std::size_t left_out = 0;
    const auto features = make_features(tokens, options, [&](std::size_t) { ++left_out; });
    EXPECT_EQ(left_out, expected.at("questions_left_out").size());
    Crc32 crc;
    std::int64_t real = 0, sum_ids = 0, sum_start = 0, sum_end = 0, answered = 0;
    std::map<std::uint32_t, int> windows;
    for (const SquadFeature& feature : features) {
      for (const std::int64_t id : ids_of(tokens, feature, length)) {
        crc.add(static_cast<std::uint32_t>(id));
        sum_ids += id;
      }
      real += sequence_tokens(tokens, feature);
      sum_start += feature.start;
      sum_end += feature.end;
      answered += feature.end > 0 ? 1 : 0;
      ++windows[feature.question];
    }
    const auto several =
        std::ranges::count_if(windows, [](const auto& window) { return window.second > 1; });
    EXPECT_EQ(features.size(), expected.at("features"));
    EXPECT_EQ(several, expected.at("questions_with_several_windows"));
    EXPECT_EQ(answered, expected.at("windows_with_answer"));
    EXPECT_EQ(real, expected.at("real_tokens"));
    EXPECT_EQ(crc.value(), expected.at("crc32_of_ids_u32le"));
    EXPECT_EQ(sum_ids, expected.at("sum_ids"));
    EXPECT_EQ(sum_start, expected.at("sum_start"));
    EXPECT_EQ(sum_end, expected.at("sum_end"));
  }
  EXPECT_GE(packs.size(), 9u);
}

SquadParagraph paragraph_of(const Json& line) {
  SquadQuestion question;
  question.id = line.at("id");
  question.text = line.at("question");
  if (!line.at("answer").is_null()) {
    question.answers.push_back(
        {line.at("answer").at("text"), line.at("answer").at("answer_start")});
  }
  question.is_impossible = question.answers.empty();
  return {line.at("context"), {question}};
}

TEST_F(SquadPack, EveryWindowIsTheReferences) {
  const auto file = test::reference_data("squad_features.jsonl");
  if (!file) GTEST_SKIP() << "squad_features.jsonl is not here: FALCONBENCH_REFERENCE_DATA_DIR";
  int windows = 0, known_fault = 0;
  const std::vector<Json> lines = test::read_json_lines(*file);
  for (const Json& line : lines) {
    SCOPED_TRACE(line.at("n").dump() + " " + line.at("why").dump());
    const std::int64_t length = line.at("max_seq_length");
    SquadTokens tokens;
    tokenize_paragraphs({paragraph_of(line)}, *tokenizer_, 1, tokens);
    const auto features =
        make_features(tokens, {length, line.at("doc_stride")}, [](std::size_t) { FAIL(); });
    ASSERT_EQ(features.size(), line.at("windows").size());
    for (std::size_t i = 0; i < features.size(); ++i) {
      const Json& window = line.at("windows")[i];
      EXPECT_EQ(sequence_tokens(tokens, features[i]), window.at("n"));
      EXPECT_EQ(Json(ids_of(tokens, features[i], length)), window.at("ids"));
      EXPECT_EQ(tokens.questions[0].tokens.count + 2, window.at("type1"));
      EXPECT_EQ(features[i].start, window.at("start"));
      EXPECT_EQ(features[i].end, window.at("end"));
      known_fault += window.at("hf_start") != window.at("start") ? 1 : 0;
      ++windows;
    }
  }
  EXPECT_GE(lines.size(), 50u);
  EXPECT_GT(known_fault, 0);
  std::cout << windows << " windows of " << lines.size() << " questions\n";
}

struct BadFile {
  const char* name;
  std::int64_t used, impossible;
  const char* reason;  // of q2; "" when nothing is left out
};

TEST(BadSquad, IsUsedAndLeftOutAsTheIndexSays) {
  const auto bad = test::outside_data("bad/squad");
  if (!bad) GTEST_SKIP() << "the damaged inputs are not here: FALCONBENCH_DATA_DIR";
  for (const BadFile& file :
       {BadFile{"answer_start_beyond.json", 1, 0, "answer_outside"},
        BadFile{"text_mismatch.json", 1, 0, "answer_mismatch"},
        BadFile{"v2_named_v1.1.json", 2, 1, ""}, BadFile{"bom.json", 1, 0, ""}}) {
    SCOPED_TRACE(file.name);
    std::vector<SkippedItem> left_out;
    const SquadFileFacts facts = read_squad(
        *bad / file.name, [](SquadParagraph&&) {},
        [&](SkippedItem item) { left_out.push_back(std::move(item)); });
    EXPECT_EQ(facts.questions, file.used);
    EXPECT_EQ(facts.impossible, file.impossible);
    ASSERT_EQ(left_out.size(), *file.reason != '\0' ? 1u : 0u);
    if (left_out.empty()) continue;
    EXPECT_EQ(left_out[0].item, "q2");
    EXPECT_EQ(left_out[0].reason, file.reason);
  }
  try {
    read_squad(
        *bad / "truncated.json", [](SquadParagraph&&) {}, [](SkippedItem) {});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("truncated.json:16:23: "), std::string::npos) << text;
    EXPECT_NE(text.find("ends in the middle"), std::string::npos) << text;
  }
}

TEST(BadVocabulary, IsUsedAndRefusedAsTheIndexSays) {
  const auto bad = test::outside_data("bad/vocab");
  if (!bad) GTEST_SKIP() << "the damaged inputs are not here: FALCONBENCH_DATA_DIR";
  const Vocabulary crlf = Vocabulary::read(*bad / "crlf.txt");
  EXPECT_EQ(crlf.size(), 88);
  std::vector<std::int32_t> ids;
  for (const Token& token : WordPiece(crlf).encode("the bridge")) ids.push_back(token.id);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{80, 81}));
  for (const auto& [name, parts] :
       {std::pair<const char*, std::vector<const char*>>{"missing_sep.txt",
                                                         {"missing_sep.txt", "[SEP] is missing"}},
        {"duplicates.txt", {"\"the\" is given twice", "\"bridge\" is given twice", "in line "}}}) {
    try {
      Vocabulary::read(*bad / name);
      FAIL() << name << " was accepted";
    } catch (const InputError& error) {
      for (const char* part : parts) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace falcon::data
