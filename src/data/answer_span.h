// From the logits of a window to its answer: the n-best search of
// utils_qa.postprocess_qa_predictions in Hugging Face transformers, with run_qa.py's defaults. The
// best of the 20 x 20 pairs of the likeliest starts and ends is kept, which is all that the answer
// needs. Pure.
#pragma once
#include <cstdint>
#include <span>

#include "data/squad_features.h"

namespace falcon::data {

inline constexpr std::int64_t kBestPositions = 20;    // n_best_size
inline constexpr std::int64_t kMaxAnswerTokens = 30;  // max_answer_length

/// The likeliest positions of a sequence with their logits, best first: of all positions, those of
/// the question and of padding too.
struct BestPositions {
  std::span<const std::int64_t> positions;
  std::span<const float> logits;  // as many
};

/// Six numbers of 4 bytes without padding: it is sent as it lies in memory.
struct WindowAnswer {
  std::uint32_t window = 0;  // index of the feature
  std::int32_t first = -1;   // tokens of the context, both within; -1: no span can be an answer
  std::int32_t last = -1;
  float start_logit = 0;
  float end_logit = 0;
  float null_score = 0;  // both logits of position 0: that the answer is not here
};

/// The span with the largest sum of logits, without window and null_score. A span lies in the
/// context of the window, does not end before it begins, and has at most kMaxAnswerTokens tokens;
/// of equal sums the first pair wins. question_tokens: of the feature's question.
WindowAnswer best_span(const SquadFeature& feature, std::uint64_t question_tokens,
                       const BestPositions& starts, const BestPositions& ends);

}  // namespace falcon::data
