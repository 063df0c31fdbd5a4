#include "data/squad_features.h"

#include <algorithm>

namespace falcon::data {
namespace {

using Question = SquadTokens::Question;

struct Span {
  std::uint32_t start = 0, end = 0;  // positions in the sequence
};

// The answer in the window of `count` context tokens from index `first` of ids; `offset`: position
// of the first of them in the sequence.
Span span_of(const SquadTokens& tokens, const Question& question, std::size_t first,
             std::size_t count, std::size_t offset) {
  if (question.is_answered == 0 || count == 0) return {};
  const auto begins = std::span(tokens.begins).subspan(first, count);
  const auto ends = std::span(tokens.ends).subspan(first, count);
  if (begins.front() > question.answer_begin || ends.back() < question.answer_end) return {};
  // the last token that begins at the answer or before it, the first that ends at its end or behind
  const auto start = std::ranges::upper_bound(begins, question.answer_begin) - begins.begin() - 1;
  const auto end = std::ranges::lower_bound(ends, question.answer_end) - ends.begin();
  return {static_cast<std::uint32_t>(offset + static_cast<std::size_t>(start)),
          static_cast<std::uint32_t>(offset + static_cast<std::size_t>(end))};
}

}  // namespace

std::vector<SquadFeature> make_features(const SquadTokens& tokens, const WindowOptions& options,
                                        const std::function<void(std::size_t)>& left_out) {
  std::vector<SquadFeature> features;
  const auto stride = static_cast<std::size_t>(options.doc_stride);
  const auto length = static_cast<std::size_t>(options.sequence_length);
  for (std::size_t q = 0; q < tokens.questions.size(); ++q) {
    const Question& question = tokens.questions[q];
    const TokenRun& context = tokens.contexts[question.context].tokens;
    const std::size_t around = question.tokens.count + 3;
    const std::size_t room = length > around ? length - around : 0;
    if (around > length || (context.count > room && room <= stride)) {
      left_out(q);
      continue;
    }
    for (std::size_t first = 0;; first += room - stride) {
      const std::size_t count = std::min(room, context.count - first);
      const Span span =
          span_of(tokens, question, context.first + first, count, question.tokens.count + 2);
      features.push_back({static_cast<std::uint32_t>(q), static_cast<std::uint32_t>(first),
                          static_cast<std::uint32_t>(count), span.start, span.end});
      if (first + count == context.count) break;
    }
  }
  return features;
}

std::int64_t sequence_tokens(const SquadTokens& tokens, const SquadFeature& feature) {
  return static_cast<std::int64_t>(tokens.questions[feature.question].tokens.count + 3 +
                                   feature.num_tokens);
}

void write_sequence(const SquadTokens& tokens, const SquadFeature& feature,
                    const Vocabulary& vocabulary, const SequenceViews& out) {
  const Question& question = tokens.questions[feature.question];
  const std::size_t context = tokens.contexts[question.context].tokens.first + feature.first_token;
  std::size_t at = 0;
  const auto copy = [&](std::size_t first, std::size_t count) {
    std::copy_n(tokens.ids.begin() + static_cast<std::ptrdiff_t>(first), count,
                out.ids.begin() + static_cast<std::ptrdiff_t>(at));
    at += count;
  };
  out.ids[at++] = vocabulary.cls();
  copy(question.tokens.first, question.tokens.count);
  out.ids[at++] = vocabulary.sep();
  const std::size_t first_of_context = at;
  copy(context, feature.num_tokens);
  out.ids[at++] = vocabulary.sep();
  std::ranges::fill(out.ids.subspan(at), vocabulary.pad());
  std::ranges::fill(out.types, 0);
  std::ranges::fill(out.types.subspan(first_of_context, at - first_of_context), 1);
  std::ranges::fill(out.mask.first(at), 1);
  std::ranges::fill(out.mask.subspan(at), 0);
}

}  // namespace falcon::data
