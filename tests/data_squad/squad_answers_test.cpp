// From logits to answers, and from answers to exact match and F1: against what the original scripts
// say, restated in Python (tests/data/answers.json by answer_reference.py).
#include "data/squad_answers.h"

#include <algorithm>
#include <iostream>
#include <numeric>

#include <gtest/gtest.h>

#include "data/make_squad.h"
#include "data/squad.h"
#include "data/unicode.h"
#include "data_squad/squad_files.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

using test::Json;

Json reference() {
  return Json::parse(test::read_text("tests/data/answers.json"));
}

TEST(AnswerScore, IsThatOfTheOfficialScripts) {
  const Json rows = reference().at("scores");
  ASSERT_GT(rows.size(), 30U);
  for (const Json& row : rows) {
    SCOPED_TRACE(row.dump());
    const std::string prediction = row.at("prediction");
    const std::vector<std::string> truths = row.at("truths");
    EXPECT_EQ(normalized_answer(prediction), row.at("normalized").get<std::string>());
    for (const auto& [name, rules] : {std::pair{"v1", SquadRules::kV1}, {"v2", SquadRules::kV2}}) {
      const AnswerScore score = score_answer(prediction, truths, rules);
      EXPECT_EQ(score.exact_match, row.at(name)[0].get<double>()) << name;
      EXPECT_DOUBLE_EQ(score.f1, row.at(name)[1].get<double>()) << name;
    }
  }
}

struct Best {
  std::vector<std::int64_t> positions;
  std::vector<float> logits;
  BestPositions view() const { return {positions, logits}; }
};

// The best 20 of all positions.
Best best_of(const std::vector<float>& logits) {
  std::vector<std::int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](std::int64_t i) { return logits[static_cast<std::size_t>(i)]; };
  std::ranges::stable_sort(order, std::greater<>(), logit);
  order.resize(std::min<std::size_t>(order.size(), kBestPositions));
  Best best{order, {}};
  for (const std::int64_t position : order) best.logits.push_back(logit(position));
  return best;
}

WindowAnswer answer_in(std::uint32_t window, const SquadFeature& feature,
                       std::uint64_t question_tokens, const std::vector<float>& starts,
                       const std::vector<float>& ends) {
  WindowAnswer answer =
      best_span(feature, question_tokens, best_of(starts).view(), best_of(ends).view());
  answer.window = window;
  answer.null_score = starts.at(0) + ends.at(0);
  return answer;
}

// One question on one context, as the reference has it.
struct Case {
  explicit Case(const Json& json) {
    for (const Json& place : json.at("places")) {
      tokens.begins.push_back(place[0]);
      tokens.ends.push_back(place[1]);
    }
    tokens.contexts.push_back({{0, tokens.begins.size()}});
    tokens.questions.push_back({.tokens = {0, json.at("question_tokens")}});
    texts.contexts.push_back(json.at("context"));
    for (const Json& window : json.at("windows")) {
      const SquadFeature feature{.first_token = window.at("first"),
                                 .num_tokens = window.at("count")};
      windows.push_back(answer_in(static_cast<std::uint32_t>(windows.size()), feature,
                                  json.at("question_tokens"), window.at("starts"),
                                  window.at("ends")));
    }
  }
  std::string answer(bool is_v2) {
    tokens.facts.impossible = is_v2 ? 1 : 0;
    return answer_of(tokens, texts, tokens.questions[0], windows);
  }
  SquadTokens tokens;
  SquadTexts texts;
  std::vector<WindowAnswer> windows;
};

TEST(Answers, AreThoseOfTheNBestSearch) {
  const Json rows = reference().at("answers");
  ASSERT_GE(rows.size(), 50U);
  int empty = 0, none = 0, several = 0;
  for (const Json& row : rows) {
    Case one(row);
    EXPECT_EQ(one.answer(false), row.at("v1").get<std::string>()) << row.at("context");
    EXPECT_EQ(one.answer(true), row.at("v2").get<std::string>()) << row.at("context");
    empty += row.at("v1") == "empty" ? 1 : 0;
    none += row.at("v2") == "" ? 1 : 0;
    several += one.windows.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(empty, 0);
  EXPECT_GT(none, 5);
  EXPECT_GT(several, 10);
}

// [CLS] q [SEP], then the context from position 3.
class OneWindow : public testing::Test {
 protected:
  WindowAnswer answer() const { return answer_in(0, feature, 1, starts, ends); }
  SquadFeature feature{.first_token = 5, .num_tokens = 40};
  std::vector<float> starts = std::vector<float>(48, -5);
  std::vector<float> ends = std::vector<float>(48, -5);
};

TEST_F(OneWindow, ASpanLiesInTheContextInItsOrderAndIsNotTooLong) {
  starts[10] = 3;
  ends[12] = 3;
  EXPECT_EQ(answer().first, 5 + 10 - 3);
  EXPECT_EQ(answer().last, 5 + 12 - 3);
  starts[2] = 9;   // the question
  ends[43] = 9;    // the last [SEP]: the context's last token is at 42
  ends[4] = 8;     // before the start
  starts[42] = 2;  // too far from 12, but a span of its own with nothing
  EXPECT_EQ(answer().first, 12);
  EXPECT_EQ(answer().last, 14);
  ends[39] = 4;  // 30 tokens from 10
  EXPECT_EQ(answer().last, 5 + 39 - 3);
  ends[39] = -5;
  ends[40] = 4;  // 31 tokens
  EXPECT_EQ(answer().last, 14);
  ends[40] = -5;
  starts[12] = 3;  // as good as 10: what is found first stays
  EXPECT_EQ(answer().first, 12);
}

TEST_F(OneWindow, OnlyTheBestTwentyPositionsOfAllCount) {
  starts[30] = 1;
  ends[30] = 1;
  for (std::size_t i = 3; i < 22; ++i) starts[i] = 2;
  EXPECT_EQ(answer().start_logit, 2) << "30 tokens from 21 on hold 30";
  ends.assign(48, -5);
  ends[30] = 1;
  for (std::size_t i = 0; i < 48; ++i) starts[i] = i > 30 ? 2 : -5;
  starts[30] = 1;
  EXPECT_EQ(answer().first, 5 + 30 - 3) << "the 18th start";
  for (const std::size_t i : {0, 1, 2}) starts[i] = 2;
  EXPECT_NE(answer().first, 5 + 30 - 3) << "the 21st start";
}

TEST_F(OneWindow, WithoutASpanTheAnswerIsTheOriginalsStandIn) {
  for (std::size_t i = 0; i < 3; ++i) starts[i] = 5;
  feature.num_tokens = 0;
  SquadTokens tokens;
  tokens.contexts.emplace_back();
  tokens.questions.emplace_back();
  const SquadTexts texts{{""}, {{}}};
  WindowAnswer window = answer();
  EXPECT_EQ(window.first, -1);
  EXPECT_EQ(answer_of(tokens, texts, tokens.questions[0], std::span(&window, 1)), "empty");
  tokens.facts.impossible = 1;
  window.null_score = -0.5F;
  EXPECT_EQ(answer_of(tokens, texts, tokens.questions[0], std::span(&window, 1)), "empty");
  window.null_score = 0.5F;
  EXPECT_EQ(answer_of(tokens, texts, tokens.questions[0], std::span(&window, 1)), "");
}

DatasetOptions options_of(const std::filesystem::path& folder, const std::string& file,
                          std::int64_t length, std::int64_t stride) {
  DatasetOptions options;
  options.format = "squad";
  options.path = folder;
  options.subfolder = file;
  options.sequence_length = length;
  options.doc_stride = stride;
  options.evaluation = true;
  options.threads = 2;
  return options;
}

// As a model would give them that knows where the first answer is, or that there is none.
std::vector<WindowAnswer> perfect_answers(const Squad& squad) {
  std::vector<WindowAnswer> windows;
  const auto length = static_cast<std::size_t>(squad.layout()[0].sample_shape[0]);
  for (std::uint32_t i = 0; i < squad.features().size(); ++i) {
    const SquadFeature& feature = squad.features()[i];
    std::vector<float> starts(length, 0), ends(length, 0);
    starts[feature.start] = 10;
    ends[feature.end] = 10;
    windows.push_back(answer_in(i, feature, squad.tokens().questions[feature.question].tokens.count,
                                starts, ends));
  }
  return windows;
}

std::optional<AnswerScore> score_of(const Squad& squad, const std::vector<WindowAnswer>& windows) {
  return score_answers(squad.tokens(), *squad.texts(), squad.features(), windows);
}

class MadeAnswers : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { make_squad(folder_ / "set", {40, 60, GetParam(), 5}, 2); }
  Squad dev(std::int64_t length = 128, std::int64_t stride = 32) const {
    return Squad(
        options_of(folder_ / "set", "dev-" + std::string(GetParam()) + ".json", length, stride));
  }
  test::TemporaryFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Versions, MadeAnswers, testing::Values("v1.1", "v2.0"));

TEST_P(MadeAnswers, PerfectLogitsGiveAPerfectScore) {
  const Squad squad = dev();
  ASSERT_GT(squad.features().size(), 60U);
  const auto score = score_of(squad, perfect_answers(squad));
  ASSERT_TRUE(score);
  EXPECT_EQ(score->exact_match, 1);
  EXPECT_EQ(score->f1, 1);
}

TEST_P(MadeAnswers, WindowsCountTheSameInAnyOrderAndBadOnesLowerTheScore) {
  const Squad squad = dev();
  std::vector<WindowAnswer> windows = perfect_answers(squad);
  windows[3].first = windows[3].last = 0;
  windows[3].start_logit = windows[3].end_logit = 40;
  windows[7].null_score = -1;
  const auto score = score_of(squad, windows);
  EXPECT_LT(score->exact_match, 1);
  EXPECT_GT(score->exact_match, 0.9);
  EXPECT_LE(score->exact_match, score->f1);
  std::ranges::reverse(windows);
  EXPECT_EQ(score_of(squad, windows)->f1, score->f1);
}

TEST_P(MadeAnswers, AQuestionWithoutAWindowIsWrongInV1AndNotThereInV2) {
  const Squad squad = dev();
  std::vector<WindowAnswer> windows = perfect_answers(squad);
  std::erase_if(
      windows, [&](const WindowAnswer& w) { return squad.features()[w.window].question % 4 == 0; });
  const bool is_v2 = rules_of(squad.tokens()) == SquadRules::kV2;
  EXPECT_EQ(is_v2, std::string(GetParam()) == "v2.0");
  EXPECT_DOUBLE_EQ(score_of(squad, windows)->exact_match, is_v2 ? 1 : 0.75);
  EXPECT_FALSE(score_of(squad, {}));
}

TEST_P(MadeAnswers, TextsAreThereForAnEvaluationAndOfTheSameFile) {
  const Squad squad = dev();
  ASSERT_NE(squad.texts(), nullptr);
  EXPECT_EQ(squad.texts()->answers.size(), squad.tokens().questions.size());
  DatasetOptions training =
      options_of(folder_ / "set", "train-" + std::string(GetParam()) + ".json", 128, 32);
  training.evaluation = false;
  EXPECT_EQ(Squad(training).texts(), nullptr);
  EXPECT_THROW(read_squad_texts(folder_ / "set" / training.subfolder, squad.tokens()), Error);
}

TEST(LeftOutQuestions, CountAsTheOfficialScriptOfV1HasIt) {
  const test::TemporaryFolder folder;
  make_squad(folder / "set", {8, 0, "v1.1", 5}, 1);
  std::string long_question;
  for (int i = 0; i < 130; ++i) long_question += "a ";
  const std::string context = "Ab cd ef gh";
  test::write_text(folder / "set/mine.json",
                   test::squad_json({{context,
                                      {{"good", "a?", {{"cd", 3}}, false},
                                       {"bad", "a?", {{"cd", 4}}, false},
                                       {"fine", "a?", {{"Ab", 0}}, false},
                                       {"long", long_question, {{"cd", 3}}, false}}}}));
  const Squad squad(options_of(folder / "set", "mine.json", 64, 16));
  EXPECT_DOUBLE_EQ(score_of(squad, perfect_answers(squad))->f1, 0.5);
}

// Windows whose first answer perfect logits do not give: it begins or ends within a token (a word
// of a language without blanks, or one that the vocabulary does not have), or has too many.
std::int64_t missed_windows(const Squad& squad, const std::vector<WindowAnswer>& windows) {
  std::int64_t missed = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const SquadFeature& feature = squad.features()[i];
    if (feature.end == 0) continue;
    const auto& question = squad.tokens().questions[feature.question];
    const std::string answer =
        answer_of(squad.tokens(), *squad.texts(), question, std::span(&windows[i], 1));
    const std::string& truth = squad.texts()->answers[feature.question].front();
    if (score_answer(answer, std::span(&truth, 1), SquadRules::kV1).f1 == 1) continue;
    ++missed;
    const bool is_too_long = feature.end - feature.start >= kMaxAnswerTokens;
    const bool is_within_tokens = answer.find(truth) != std::string::npos;
    EXPECT_TRUE(is_too_long || is_within_tokens) << answer << " | " << truth;
  }
  return missed;
}

TEST(SquadPackAnswers, AreTrueButForKnownMisalignments) {
  const auto folder = test::outside_data("squad-mini");
  if (!folder) GTEST_SKIP() << "the SQuAD texts are not here: FALCONBENCH_DATA_DIR";
  for (const auto& [name, least] : {std::pair{"dev-v1.1.json", 1.0},
                                    {"dev-v2.0.json", 1.0},
                                    {"train-v1.1.json", 0.99},
                                    {"train-v2.0.json", 1.0},
                                    {"multilingual-v1.1.json", 0.85}}) {
    SCOPED_TRACE(name);
    const Squad squad(options_of(*folder, name, 384, 128));
    const std::vector<WindowAnswer> windows = perfect_answers(squad);
    const std::int64_t missed = missed_windows(squad, windows);
    const auto score = score_of(squad, windows);
    ASSERT_TRUE(score);
    std::cout << name << ": exact_match " << score->exact_match << ", f1 " << score->f1 << "; "
              << missed << " of " << windows.size() << " windows miss the first answer\n";
    EXPECT_GE(score->f1, least);
    EXPECT_TRUE(missed > 0 || score->exact_match == 1);
  }
}

}  // namespace
}  // namespace falcon::data
