#include "data/squad_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data_squad/squad_files.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Read {
  SquadFileFacts facts;
  std::vector<SquadParagraph> paragraphs;
  std::vector<std::string> left_out;  // "id reason"
  std::vector<std::string> details;
};

Read read(const std::string& text) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "s.json", text);
  Read out;
  out.facts = read_squad(
      folder / "s.json",
      [&](SquadParagraph&& paragraph) { out.paragraphs.push_back(std::move(paragraph)); },
      [&](SkippedItem item) {
        out.left_out.push_back(item.item + " " + item.reason);
        out.details.push_back(item.detail);
      });
  return out;
}

// A file around the members of one question.
std::string with_question(const std::string& members, const std::string& context = "Ab cd ef") {
  return R"({"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": ")" + context +
         R"(", "qas": [{)" + members + "}]}]}]}";
}

std::string refusal(const std::string& text) {
  try {
    read(text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(SquadFile, ReadsParagraphsInOrderWithQuestionsBeforeTheirContext) {
  const Read got = read(R"({"data": [{"paragraphs": [
      {"qas": [{"id": "b", "question": "Q?", "is_impossible": false,
                "answers": [{"answer_start": 3, "text": "cd"}, {"text": "Ab", "answer_start": 0}],
                "extra": {"answers": [1, {"text": 5}]}},
               {"is_impossible": true, "answers": [], "question": "R?", "id": "a",
                "plausible_answers": [{"text": "ef", "answer_start": 6}]}],
       "context": "Ab cd ef"},
      {"context": "no question", "qas": []}]}], "version": "v2.0"})");
  ASSERT_EQ(got.paragraphs.size(), 1u);
  EXPECT_EQ(got.paragraphs[0].context, "Ab cd ef");
  const std::vector<SquadQuestion>& questions = got.paragraphs[0].questions;
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[0].id, "b");
  ASSERT_EQ(questions[0].answers.size(), 2u);
  EXPECT_EQ(questions[0].answers[0].text, "cd");
  EXPECT_EQ(questions[0].answers[1].start, 0);
  EXPECT_TRUE(questions[1].is_impossible);
  EXPECT_THAT(questions[1].answers, IsEmpty());
  EXPECT_EQ(got.facts.version, "v2.0");
  EXPECT_EQ(got.facts.articles, 1);
  EXPECT_EQ(got.facts.paragraphs, 2);
  EXPECT_EQ(got.facts.questions, 2);
  EXPECT_EQ(got.facts.impossible, 1);
  EXPECT_EQ(got.facts.answers, 2);
  EXPECT_THAT(got.left_out, IsEmpty());
}

TEST(SquadFile, AnswerStartCountsCharacters) {
  const std::string answer = R"("id": "q", "question": "?", "answers": [{"text": "Zu)"
                             "\u0308"
                             R"(rich", "answer_start": 2}])";
  EXPECT_EQ(read(with_question(answer, "\U0001F600 Zu\u0308rich")).facts.questions, 1);
  EXPECT_EQ(read(with_question(answer, "\\ud83d\\ude00 Zu\u0308rich")).facts.questions, 1);
  EXPECT_EQ(read(with_question(answer, "x Z\u00fcrich")).facts.questions, 0);
}

TEST(SquadFile, LeavesOutWhatCannotBeUsedWithItsReason) {
  const std::string good = R"("id": "q", "question": "?")";
  struct Case {
    std::string members, expected, detail;
  };
  for (const Case& c : std::vector<Case>{
           {good + R"(, "answers": [{"text": "cd", "answer_start": 4}])", "q answer_mismatch",
            "at answer_start 4 the context has \"d \", not \"cd\""},
           {good + R"(, "answers": [{"text": "cd", "answer_start": 8}])", "q answer_outside",
            "8 characters"},
           {good + R"(, "answers": [{"text": "cd", "answer_start": -1}])", "q answer_outside", ""},
           {good + R"(, "answers": [{"text": "cd", "answer_start": 18446744073709551615}])",
            "q answer_outside", ""},
           {good + R"(, "answers": [{"text": "ef and more", "answer_start": 6}])",
            "q answer_mismatch", ""},
           {good + R"(, "answers": [{"text": "", "answer_start": 0}])", "q empty_answer", ""},
           {good + R"(, "answers": [])", "q no_answer", ""},
           {good, "q no_answer", ""},
           {good + R"(, "is_impossible": true, "answers": [{"text": "cd", "answer_start": 3}])",
            "q contradiction", ""},
           {good + R"(, "answers": [{"text": "cd", "answer_start": "3"}])", "q malformed",
            "answer_start must be a whole number, got text"},
           {good + R"(, "answers": [{"text": "cd"}])", "q malformed", "no answer_start"},
           {good + R"(, "answers": [{"answer_start": 3}])", "q malformed", "no text"},
           {good + R"(, "answers": {"text": "cd", "answer_start": 3})", "q malformed",
            "answers must be a list, got an object"},
           {good + R"(, "answers": ["cd"])", "q malformed", "must be an object, got text"},
           {good + R"(, "is_impossible": "yes", "answers": [])", "q malformed", "is_impossible"},
           {R"("id": "q", "answers": [])", "q malformed", "no question"},
           {R"("question": "?", "answers": [{"text": "cd", "answer_start": 3}])",
            "question at byte 91 no_id", ""}}) {
    const Read got = read(with_question(c.members));
    EXPECT_THAT(got.left_out, ElementsAre(c.expected)) << c.members;
    EXPECT_EQ(got.facts.questions, 0);
    EXPECT_THAT(got.paragraphs, IsEmpty());
    ASSERT_EQ(got.details.size(), 1u);
    EXPECT_THAT(got.details[0], HasSubstr(c.detail));
  }
}

TEST(SquadFile, CountsRepeatedIdsAndUsesThem) {
  const SquadQuestion question{"same", "Q?", {{"cd", 3}}, false};
  const Read got = read(test::squad_json({{"Ab cd ef", {question, question}}}));
  EXPECT_EQ(got.facts.questions, 2);
  EXPECT_EQ(got.facts.repeated_ids, 1);
}

TEST(SquadFile, RefusesAnotherStructureWithItsPlace) {
  const auto in_data = [](const std::string& text) { return "{\n \"data\": " + text + "}"; };
  EXPECT_THAT(refusal("[]"), HasSubstr("s.json:1:1: a SQuAD file must be an object, got a list"));
  EXPECT_THAT(refusal("5"), HasSubstr("must be an object, got a whole number"));
  EXPECT_THAT(refusal("{}"), HasSubstr("has no \"data\""));
  EXPECT_THAT(refusal(in_data("{}")), HasSubstr("s.json:2:10: data must be a list"));
  EXPECT_THAT(refusal(in_data("[1]")), HasSubstr("an article in data must be an object"));
  EXPECT_THAT(refusal(in_data("[{\"paragraphs\": {}}]")), HasSubstr("paragraphs must be a list"));
  EXPECT_THAT(refusal(in_data("[{\"paragraphs\": [[]]}]")), HasSubstr("a paragraph must be"));
  EXPECT_THAT(refusal(in_data("[{\"paragraphs\": [{\"context\": [1]}]}]")),
              HasSubstr("context must be text"));
  EXPECT_THAT(refusal(in_data("[{\"paragraphs\": [{\"qas\": [{\"id\": \"a\"}]}]}]")),
              HasSubstr("a paragraph has no context"));
  EXPECT_THAT(refusal("{\"data\": [], \"data\": []}"), HasSubstr("\"data\" is given twice"));
}

TEST(SquadFile, RefusesWhatIsNoJson) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("{\"data\": [\n{\"par"), HasSubstr("s.json:2:6: ends in the middle"));
  EXPECT_THAT(refusal("{\"data\": [,]}"), HasSubstr("s.json:1:11: invalid JSON"));
  EXPECT_THAT(refusal("{\"data\": []} {\"data\": []}"), HasSubstr("more text behind"));
  EXPECT_THAT(refusal(with_question("\"id\": \"\xFF\"")), HasSubstr("s.json:1:"));
  EXPECT_THAT(refusal(with_question(R"("id": "\ud800")")), HasSubstr("s.json:1:"));
  EXPECT_THAT(refusal(std::string(100000, '[')), HasSubstr("must be an object"));
  EXPECT_THAT(refusal("{\"x\": " + std::string(100000, '[')), HasSubstr("levels of nesting"));
}

}  // namespace
}  // namespace falcon::data
