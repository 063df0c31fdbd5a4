#include "data/answer_span.h"

namespace falcon::data {

WindowAnswer best_span(const SquadFeature& feature, std::uint64_t question_tokens,
                       const BestPositions& starts, const BestPositions& ends) {
  const auto context = static_cast<std::int64_t>(question_tokens) + 2;  // behind [CLS] and [SEP]
  const auto is_outside = [&](std::int64_t position) {
    return position < context || position >= context + feature.num_tokens;
  };
  WindowAnswer best;
  std::int64_t best_start = -1;
  std::int64_t best_end = -1;
  for (std::size_t s = 0; s < starts.positions.size(); ++s) {
    const std::int64_t start = starts.positions[s];
    if (is_outside(start)) continue;
    for (std::size_t e = 0; e < ends.positions.size(); ++e) {
      const std::int64_t end = ends.positions[e];
      if (is_outside(end) || end < start || end - start >= kMaxAnswerTokens) continue;
      const float score = starts.logits[s] + ends.logits[e];
      if (best_start >= 0 && !(score > best.start_logit + best.end_logit)) continue;
      best_start = start;
      best_end = end;
      best.start_logit = starts.logits[s];
      best.end_logit = ends.logits[e];
    }
  }
  if (best_start < 0) return best;
  best.first = static_cast<std::int32_t>(feature.first_token + best_start - context);
  best.last = static_cast<std::int32_t>(feature.first_token + best_end - context);
  return best;
}

}  // namespace falcon::data
