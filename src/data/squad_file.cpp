#include "data/squad_file.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "data/json_stream.h"
#include "data/unicode.h"

namespace falcon::data {
namespace {

constexpr std::size_t kMaxDepth = 100;

// One scalar, or the kind of what was found where a scalar is expected.
struct Found {
  enum class Kind { kNull, kBool, kInteger, kNumber, kText, kObject, kList } kind = Kind::kNull;
  bool truth = false;
  std::int64_t number = 0;
  std::string text;

  const char* name() const {
    constexpr const char* kNames[] = {"null", "true or false", "a whole number", "a number",
                                      "text", "an object",     "a list"};
    return kNames[static_cast<int>(kind)];
  }
};

// As written; what is wrong with it is remembered until its paragraph ends.
struct RawQuestion {
  SquadQuestion question;
  bool has_text = false;
  std::uint64_t offset = 0;  // where it begins
  std::string malformed;

  void fault(const std::string& what) {
    if (malformed.empty()) malformed = what;
  }
};

class SquadEvents : public JsonEvents {
 public:
  SquadEvents(const std::filesystem::path& file, SquadFileFacts& facts,
              const std::function<void(SquadParagraph&&)>& paragraph,
              const std::function<void(SkippedItem)>& left_out)
      : file_(file), facts_(facts), paragraph_(paragraph), left_out_(left_out) {}

  bool null() override { return scalar({}); }
  bool boolean(bool truth) override { return scalar({Found::Kind::kBool, truth, 0, {}}); }
  bool number_integer(number_integer_t n) override {
    return scalar({Found::Kind::kInteger, false, n, {}});
  }
  bool number_unsigned(number_unsigned_t n) override {
    const auto most = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    return scalar({Found::Kind::kInteger, false, static_cast<std::int64_t>(std::min(n, most)), {}});
  }
  bool number_float(number_float_t, const string_t&) override {
    return scalar({Found::Kind::kNumber, false, 0, {}});
  }
  bool string(string_t& text) override {
    return scalar({Found::Kind::kText, false, 0, std::move(text)});
  }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override { return open(Found::Kind::kObject); }
  bool start_array(std::size_t) override { return open(Found::Kind::kList); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  void finish() {
    if (!has_data_) stop("has no \"data\": a SQuAD file is {version, data: [articles]}");
  }

 private:
  enum class At {
    kFile,
    kData,
    kArticle,
    kParagraphs,
    kParagraph,
    kQuestions,
    kQuestion,
    kAnswers,
    kAnswer,
    kUnread
  };

  [[noreturn]] void stop(const std::string& message) const {
    refuse_json(file_, offset() > 0 ? offset() - 1 : 0, message);
  }
  void need(Found::Kind wanted, Found::Kind got, const char* what) const {
    if (wanted == got) return;
    stop(std::string(what) + " must be " + Found{wanted, false, 0, {}}.name() + ", got " +
         Found{got, false, 0, {}}.name());
  }
  bool open(Found::Kind kind);
  At place_of(Found::Kind kind);
  bool close();
  bool scalar(Found found);
  void question_field(Found found);
  void answer_field(Found found);
  void finish_paragraph();
  std::optional<SkippedItem> problem_of(const RawQuestion& raw) const;

  const std::filesystem::path& file_;
  SquadFileFacts& facts_;
  const std::function<void(SquadParagraph&&)>& paragraph_;
  const std::function<void(SkippedItem)>& left_out_;
  std::vector<At> open_;
  std::string key_;
  bool has_data_ = false;
  std::optional<std::string> context_;
  std::vector<RawQuestion> questions_;
  bool has_answer_text_ = false;
  bool has_answer_start_ = false;
  std::unordered_set<std::string> ids_;
};

SquadEvents::At SquadEvents::place_of(Found::Kind kind) {
  if (open_.empty()) {
    need(Found::Kind::kObject, kind, "a SQuAD file");
    return At::kFile;
  }
  const bool is_list = kind == Found::Kind::kList;
  switch (open_.back()) {
    case At::kFile:
      if (key_ != "data") return At::kUnread;
      need(Found::Kind::kList, kind, "data");
      if (has_data_) stop("\"data\" is given twice");
      has_data_ = true;
      return At::kData;
    case At::kData:
      need(Found::Kind::kObject, kind, "an article in data");
      ++facts_.articles;
      return At::kArticle;
    case At::kArticle:
      if (key_ != "paragraphs") return At::kUnread;
      need(Found::Kind::kList, kind, "paragraphs");
      return At::kParagraphs;
    case At::kParagraphs:
      need(Found::Kind::kObject, kind, "a paragraph");
      ++facts_.paragraphs;
      context_.reset();
      questions_.clear();
      return At::kParagraph;
    case At::kParagraph:
      if (key_ == "context") stop("context must be text");
      if (key_ != "qas") return At::kUnread;
      need(Found::Kind::kList, kind, "qas");
      return At::kQuestions;
    case At::kQuestions:
      need(Found::Kind::kObject, kind, "a question in qas");
      questions_.emplace_back();
      questions_.back().offset = offset();
      return At::kQuestion;
    case At::kQuestion:
      if (key_ == "answers" && is_list) return At::kAnswers;
      question_field({kind, false, 0, {}});
      return At::kUnread;
    case At::kAnswers:
      if (is_list) {
        questions_.back().fault("an answer must be an object, got a list");
        return At::kUnread;
      }
      questions_.back().question.answers.emplace_back();
      has_answer_text_ = has_answer_start_ = false;
      return At::kAnswer;
    case At::kAnswer:
      answer_field({kind, false, 0, {}});
      return At::kUnread;
    case At::kUnread:
      break;
  }
  return At::kUnread;
}

bool SquadEvents::open(Found::Kind kind) {
  if (open_.size() >= kMaxDepth) {
    stop("more than " + std::to_string(kMaxDepth) + " levels of nesting");
  }
  open_.push_back(place_of(kind));
  return true;
}

bool SquadEvents::close() {
  const At closed = open_.back();
  open_.pop_back();
  if (closed == At::kParagraph) finish_paragraph();
  if (closed == At::kAnswer && !has_answer_text_) {
    questions_.back().fault("an answer has no text");
  }
  if (closed == At::kAnswer && !has_answer_start_) {
    questions_.back().fault("an answer has no answer_start");
  }
  return true;
}

bool SquadEvents::scalar(Found found) {
  if (open_.empty()) need(Found::Kind::kObject, found.kind, "a SQuAD file");
  switch (open_.back()) {
    case At::kFile:
      if (key_ == "data") need(Found::Kind::kList, found.kind, "data");
      if (key_ == "version") facts_.version = found.text;
      break;
    case At::kData:
      need(Found::Kind::kObject, found.kind, "an article in data");
      break;
    case At::kArticle:
      if (key_ == "paragraphs") need(Found::Kind::kList, found.kind, "paragraphs");
      break;
    case At::kParagraphs:
      need(Found::Kind::kObject, found.kind, "a paragraph");
      break;
    case At::kParagraph:
      if (key_ == "qas") need(Found::Kind::kList, found.kind, "qas");
      if (key_ != "context") break;
      need(Found::Kind::kText, found.kind, "context");
      if (context_) stop("context is given twice");
      context_ = std::move(found.text);
      break;
    case At::kQuestions:
      need(Found::Kind::kObject, found.kind, "a question in qas");
      break;
    case At::kQuestion:
      question_field(std::move(found));
      break;
    case At::kAnswers:
      questions_.back().fault(std::string("an answer must be an object, got ") + found.name());
      break;
    case At::kAnswer:
      answer_field(std::move(found));
      break;
    case At::kUnread:
      break;
  }
  return true;
}

void SquadEvents::question_field(Found found) {
  RawQuestion& raw = questions_.back();
  const auto take = [&](Found::Kind wanted) {
    if (found.kind == wanted) return true;
    raw.fault(key_ + " must be " + Found{wanted, false, 0, {}}.name() + ", got " + found.name());
    return false;
  };
  if (key_ == "id" && take(Found::Kind::kText)) raw.question.id = std::move(found.text);
  if (key_ == "question" && take(Found::Kind::kText)) {
    raw.question.text = std::move(found.text);
    raw.has_text = true;
  }
  if (key_ == "is_impossible" && take(Found::Kind::kBool)) {
    raw.question.is_impossible = found.truth;
  }
  if (key_ == "answers") take(Found::Kind::kList);
}

void SquadEvents::answer_field(Found found) {
  RawQuestion& raw = questions_.back();
  SquadAnswer& answer = raw.question.answers.back();
  const auto take = [&](Found::Kind wanted) {
    if (found.kind == wanted) return true;
    raw.fault("an answer's " + key_ + " must be " + Found{wanted, false, 0, {}}.name() + ", got " +
              found.name());
    return false;
  };
  if (key_ == "text") {
    has_answer_text_ = true;
    if (take(Found::Kind::kText)) answer.text = std::move(found.text);
  }
  if (key_ == "answer_start") {
    has_answer_start_ = true;
    if (take(Found::Kind::kInteger)) answer.start = found.number;
  }
}

// "" when the context has the answer where it says.
std::string answer_problem(const std::string& context, const SquadAnswer& answer,
                           std::string& reason) {
  if (answer.text.empty()) {
    reason = "empty_answer";
    return "an answer has no text";
  }
  const std::int64_t length = unicode::length(context);
  if (answer.start < 0 || answer.start >= length) {
    reason = "answer_outside";
    return "answer_start is " + std::to_string(answer.start) + ", the context has " +
           std::to_string(length) + " characters";
  }
  const std::string_view rest =
      std::string_view(context).substr(unicode::bytes_of(context, answer.start));
  if (rest.starts_with(answer.text)) return {};
  reason = "answer_mismatch";
  const std::string_view there =
      rest.substr(0, unicode::bytes_of(rest, unicode::length(answer.text)));
  return "at answer_start " + std::to_string(answer.start) + " the context has \"" +
         base::printable(there) + "\", not \"" + base::printable(answer.text) + "\"";
}

std::optional<SkippedItem> SquadEvents::problem_of(const RawQuestion& raw) const {
  const SquadQuestion& question = raw.question;
  const std::string item =
      question.id.empty() ? "question at byte " + std::to_string(raw.offset) : question.id;
  if (!raw.malformed.empty()) return SkippedItem{item, "malformed", raw.malformed};
  if (question.id.empty()) return SkippedItem{item, "no_id", "it has no id"};
  if (!raw.has_text) return SkippedItem{item, "malformed", "it has no question"};
  if (question.is_impossible && !question.answers.empty()) {
    return SkippedItem{item, "contradiction", "is_impossible is true, but there is an answer"};
  }
  if (!question.is_impossible && question.answers.empty()) {
    return SkippedItem{item, "no_answer", "no answer, and is_impossible is not true"};
  }
  for (const SquadAnswer& answer : question.answers) {
    std::string reason;
    const std::string problem = answer_problem(*context_, answer, reason);
    if (!problem.empty()) return SkippedItem{item, reason, problem};
  }
  return std::nullopt;
}

void SquadEvents::finish_paragraph() {
  if (!context_ && !questions_.empty()) stop("a paragraph has no context");
  SquadParagraph paragraph;
  for (RawQuestion& raw : questions_) {
    if (std::optional<SkippedItem> problem = problem_of(raw)) {
      left_out_(std::move(*problem));
      continue;
    }
    ++facts_.questions;
    facts_.repeated_ids += ids_.insert(raw.question.id).second ? 0 : 1;
    facts_.impossible += raw.question.is_impossible ? 1 : 0;
    facts_.answers += static_cast<std::int64_t>(raw.question.answers.size());
    paragraph.questions.push_back(std::move(raw.question));
  }
  questions_.clear();
  if (paragraph.questions.empty()) return;
  paragraph.context = std::move(*context_);
  paragraph_(std::move(paragraph));
}

}  // namespace

SquadFileFacts read_squad(const std::filesystem::path& file,
                          const std::function<void(SquadParagraph&&)>& paragraph,
                          const std::function<void(SkippedItem)>& left_out) {
  SquadFileFacts facts;
  SquadEvents events(file, facts, paragraph, left_out);
  stream_json(file, events);
  events.finish();
  return facts;
}

}  // namespace falcon::data
