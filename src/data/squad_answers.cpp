#include "data/squad_answers.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "data/squad_file.h"
#include "data/unicode.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

constexpr const char* kNoSpan = "empty";

// Characters first to behind last of a text.
std::string part_of(std::string_view text, std::uint32_t begin, std::uint32_t end) {
  text.remove_prefix(unicode::bytes_of(text, begin));
  return std::string(text.substr(0, unicode::bytes_of(text, std::int64_t{end} - begin)));
}

std::int64_t questions_of(std::span<const SquadFeature> features) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    count += i == 0 || features[i].question != features[i - 1].question ? 1 : 0;
  }
  return count;
}

}  // namespace

SquadTexts read_squad_texts(const std::filesystem::path& file, const SquadTokens& tokens) {
  SquadTexts texts;
  std::size_t known = 0;
  read_squad(
      file,
      [&](SquadParagraph&& paragraph) {
        texts.contexts.push_back(std::move(paragraph.context));
        for (const SquadQuestion& question : paragraph.questions) {
          const std::size_t q = texts.answers.size();
          known += q < tokens.question_ids.size() && tokens.question_ids[q] == question.id ? 1 : 0;
          std::vector<std::string>& answers = texts.answers.emplace_back();
          for (const SquadAnswer& answer : question.answers) answers.push_back(answer.text);
        }
      },
      [](const SkippedItem&) {});
  const std::size_t questions = tokens.questions.size();
  if (known != questions || texts.answers.size() != questions ||
      texts.contexts.size() != tokens.contexts.size()) {
    throw Error(ExitCode::kHost,
                base::printable(file.native(), 400) + ": changed while it was read");
  }
  return texts;
}

SquadRules rules_of(const SquadTokens& tokens) {
  return tokens.facts.impossible > 0 ? SquadRules::kV2 : SquadRules::kV1;
}

std::string answer_of(const SquadTokens& tokens, const SquadTexts& texts,
                      const SquadTokens::Question& question,
                      std::span<const WindowAnswer> windows) {
  WindowAnswer best;
  float null_score = windows.front().null_score;
  for (const WindowAnswer& window : windows) {
    null_score = std::min(null_score, window.null_score);
    if (window.first < 0) continue;
    const bool is_better =
        window.start_logit + window.end_logit > best.start_logit + best.end_logit;
    if (best.first < 0 || is_better) best = window;
  }
  // in the original's order: it is in float32, where the order has an effect
  const bool is_none = null_score - best.start_logit - best.end_logit > 0;
  if (rules_of(tokens) == SquadRules::kV2 && is_none) return {};
  if (best.first < 0) return kNoSpan;
  const std::size_t context = tokens.contexts[question.context].tokens.first;
  return part_of(texts.contexts[question.context],
                 tokens.begins[context + static_cast<std::size_t>(best.first)],
                 tokens.ends[context + static_cast<std::size_t>(best.last)]);
}

std::optional<AnswerScore> score_answers(const SquadTokens& tokens, const SquadTexts& texts,
                                         std::span<const SquadFeature> features,
                                         std::vector<WindowAnswer> windows) {
  std::ranges::sort(windows, {}, &WindowAnswer::window);
  const SquadRules rules = rules_of(tokens);
  AnswerScore sum;
  std::int64_t counted = 0;
  for (auto first = windows.begin(); first != windows.end();) {
    const std::uint32_t q = features[first->window].question;
    const auto end = std::find_if(first, windows.end(), [&](const WindowAnswer& window) {
      return features[window.window].question != q;
    });
    const std::string answer = answer_of(tokens, texts, tokens.questions[q], {first, end});
    const AnswerScore score = score_answer(answer, texts.answers[q], rules);
    sum.exact_match += score.exact_match;
    sum.f1 += score.f1;
    ++counted;
    first = end;
  }
  if (rules == SquadRules::kV1 && counted > 0) {
    counted = questions_of(features) + tokens.left_out.count();
  }
  if (counted == 0) return std::nullopt;
  const auto all = static_cast<double>(counted);
  return AnswerScore{sum.exact_match / all, sum.f1 / all};
}

}  // namespace falcon::data
