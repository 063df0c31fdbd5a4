#include "data/answer_score.h"

#include <algorithm>
#include <map>
#include <vector>

#include "data/unicode.h"

namespace falcon::data {
namespace {

bool is_ascii_punctuation(char c) {
  return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
         !(c >= 'A' && c <= 'Z');
}

// What \w is in Python, without the underscore: a mark is none, so it ends a word.
bool is_of_a_word(char32_t c) {
  const unicode::Kind kind = unicode::kind(c);
  return kind == unicode::Kind::kLetter || kind == unicode::Kind::kNumber;
}

bool is_article(std::string_view word) {
  return word == "a" || word == "an" || word == "the";
}

// Each becomes a blank (\b(a|an|the)\b).
std::string without_articles(std::string_view text) {
  std::string out;
  std::string word;
  const auto end_word = [&] {
    out += is_article(word) ? " " : word;
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const bool is_in_word = is_of_a_word(unicode::next(text, at));
    if (!is_in_word) end_word();
    (is_in_word ? word : out) += text.substr(begin, at - begin);
  }
  end_word();
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (!unicode::is_python_space(unicode::next(text, at))) {
      words.back() += text.substr(begin, at - begin);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::vector<std::string> normalized_words(std::string_view text) {
  std::string lowered = unicode::lower_text(text);
  std::erase_if(lowered, is_ascii_punctuation);
  return words_of(without_articles(lowered));
}

double f1_of(const std::vector<std::string>& predicted, const std::vector<std::string>& truth,
             SquadRules rules) {
  if (rules == SquadRules::kV2 && (predicted.empty() || truth.empty())) {
    return predicted == truth ? 1 : 0;
  }
  std::map<std::string_view, int> left;
  for (const std::string& word : truth) ++left[word];
  int same = 0;
  for (const std::string& word : predicted) {
    const auto found = left.find(word);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++same;
  }
  if (same == 0) return 0;
  const double precision = static_cast<double>(same) / static_cast<double>(predicted.size());
  const double recall = static_cast<double>(same) / static_cast<double>(truth.size());
  return 2 * precision * recall / (precision + recall);
}

}  // namespace

std::string normalized_answer(std::string_view text) {
  std::string out;
  for (const std::string& word : normalized_words(text)) out += (out.empty() ? "" : " ") + word;
  return out;
}

AnswerScore score_answer(std::string_view prediction, std::span<const std::string> truths,
                         SquadRules rules) {
  std::vector<std::vector<std::string>> accepted;
  for (const std::string& truth : truths) {
    std::vector<std::string> words = normalized_words(truth);
    if (rules == SquadRules::kV1 || !words.empty()) accepted.push_back(std::move(words));
  }
  if (rules == SquadRules::kV2 && accepted.empty()) accepted.emplace_back();
  const std::vector<std::string> predicted = normalized_words(prediction);
  AnswerScore best;
  for (const std::vector<std::string>& truth : accepted) {
    best.exact_match = std::max(best.exact_match, predicted == truth ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, f1_of(predicted, truth, rules));
  }
  return best;
}

}  // namespace falcon::data
