// The texts of a SQuAD file that answers are taken from and held against, and what all answers of
// an evaluation come to.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/answer_score.h"
#include "data/answer_span.h"
#include "data/squad_features.h"
#include "data/squad_tokens.h"

namespace falcon::data {

/// In the order of SquadTokens.
struct SquadTexts {
  std::vector<std::string> contexts;
  std::vector<std::vector<std::string>> answers;  // of each question, as written
};

/// Throws as read_squad() does, and falcon::Error (kHost) when the file no longer has these
/// questions.
SquadTexts read_squad_texts(const std::filesystem::path& file, const SquadTokens& tokens);

/// v2.0's when a question is impossible: only then may the answer be that there is none.
SquadRules rules_of(const SquadTokens& tokens);

/// What the windows of one question, in their order, come to: a part of its context; "" for no
/// answer (kV2 alone, when the smallest null score is above the best span's); the word "empty", as
/// the original has it, where no window has a span. REQUIRES: at least one window.
std::string answer_of(const SquadTokens& tokens, const SquadTexts& texts,
                      const SquadTokens::Question& question, std::span<const WindowAnswer> windows);

/// Mean over the questions, as the official script would have it of a file with these answers: a
/// question without a window (its tokens leave no room for the context, or it was left out as
/// unusable) counts as wrong in v1.1 and not at all in v2.0. Nothing when no question counts.
/// Windows may come in any order, each once. Pure.
std::optional<AnswerScore> score_answers(const SquadTokens& tokens, const SquadTexts& texts,
                                         std::span<const SquadFeature> features,
                                         std::vector<WindowAnswer> windows);

}  // namespace falcon::data
