// How good an answer is, as the official SQuAD scripts say: evaluate-v1.1.py and evaluate-v2.0.py,
// whose normalisation is the same and whose treatment of empty answers differs. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace falcon::data {

enum class SquadRules { kV1, kV2 };

/// Lower case, without ASCII punctuation, without the words a, an and the, one blank between words.
/// REQUIRES: valid UTF-8.
std::string normalized_answer(std::string_view text);

/// Shares, 0..1; the scripts print 100 times that.
struct AnswerScore {
  double exact_match = 0;
  double f1 = 0;
};

/// The best over the true answers, in each measure for itself. "" is the prediction that there is
/// no answer; no true answers: there is none (kV2; kV1 has no such question and gives 0).
AnswerScore score_answer(std::string_view prediction, std::span<const std::string> truths,
                         SquadRules rules);

}  // namespace falcon::data
