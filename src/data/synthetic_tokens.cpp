#include "data/synthetic_tokens.h"

#include <algorithm>
#include <array>

#include "base/counter_random.h"
#include "base/text.h"
#include "data/question_layout.h"
#include "falconbench/clock.h"

namespace falcon::data {
namespace {

// Features that the reference recipe makes of train-v1.1 (384 tokens, overlap 128, uncased
// vocabulary).
constexpr std::int64_t kSquadFeatures = 88524;
constexpr std::int64_t kClsId = 101;
constexpr std::int64_t kSepId = 102;
// Whole words of the uncased vocabulary begin here, the most frequent first; it ends at 30522.
constexpr std::int64_t kFirstWordId = 1000;
constexpr std::int64_t kNumWords = 29522;

/// A share of 1000 draws is spread evenly over low .. high.
struct Quantiles {
  std::int64_t until;  // in thousandths
  std::int64_t low, high;
};
// Question and context lengths in tokens, fitted to what the reference makes of 655 SQuAD v1.1
// questions: 199 tokens a feature of 384, 96 features in 100 hold their answer, no context is above
// 617 tokens.
constexpr std::array kQuestion{Quantiles{500, 5, 11}, Quantiles{900, 12, 19},
                               Quantiles{1000, 20, 40}};
constexpr std::array kContext{Quantiles{100, 30, 100},  Quantiles{250, 101, 132},
                              Quantiles{500, 133, 172}, Quantiles{750, 173, 226},
                              Quantiles{900, 227, 290}, Quantiles{960, 291, 384},
                              Quantiles{1000, 385, 617}};
// Answers: one token, then a further one with this chance, in hundredths (mean 3.8 tokens).
constexpr std::uint64_t kLongerAnswer = 74;
// Answers stand early rather than late: with this chance, in hundredths, the earlier of two places.
constexpr std::uint64_t kEarlierAnswer = 60;

std::int64_t draw(base::CounterRandom& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

template <std::size_t N>
std::int64_t draw_length(base::CounterRandom& random, const std::array<Quantiles, N>& table) {
  const std::int64_t share = draw(random, 0, 999);
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const Quantiles& q) { return share < q.until; });
  return draw(random, row->low, row->high);
}

/// Where things are in one sample.
struct Shape {
  std::int64_t question = 0;
  std::int64_t window = 0;          // tokens of the context that are in it
  std::int64_t start = 0, end = 0;  // of the answer; 0 where it is not in the window
  std::int64_t used() const { return question + window + 3; }
};

/// Windows of a long context overlap by a third, as 384 tokens by 128; every sample takes any of
/// them.
Shape draw_shape(base::CounterRandom& random, std::int64_t length) {
  Shape shape;
  shape.question = std::min(draw_length(random, kQuestion), (length - 3) / 2);
  const std::int64_t room = length - 3 - shape.question;
  const std::int64_t context = draw_length(random, kContext);
  std::int64_t answer = 1;
  while (answer < context && random.below(100) < kLongerAnswer) ++answer;
  std::int64_t answer_begin = draw(random, 0, context - answer);
  if (random.below(100) < kEarlierAnswer) {
    answer_begin = std::min(answer_begin, draw(random, 0, context - answer));
  }
  const std::int64_t stride = std::max<std::int64_t>(1, room - length / 3);
  const std::int64_t windows = context <= room ? 1 : 1 + (context - room + stride - 1) / stride;
  const std::int64_t window_begin = draw(random, 0, windows - 1) * stride;
  shape.window = std::min(room, context - window_begin);
  const std::int64_t inside = answer_begin - window_begin;
  if (inside >= 0 && inside + answer <= shape.window) {
    shape.start = shape.question + 2 + inside;
    shape.end = shape.start + answer - 1;
  }
  return shape;
}

/// Frequencies fall as 1 / rank, octave by octave, as words do: integers alone, so that every
/// machine draws the same.
std::int64_t draw_word(base::CounterRandom& random) {
  constexpr std::int64_t kOctaves = 15;
  const std::int64_t octave = std::int64_t{1} << draw(random, 0, kOctaves - 1);
  const std::int64_t rank = draw(random, octave, std::min(2 * octave - 1, kNumWords));
  return kFirstWordId + rank - 1;
}

base::CounterRandom stream(std::uint64_t seed, std::int64_t index) {
  return base::CounterRandom({seed, 3, static_cast<std::uint64_t>(index)});
}

}  // namespace

SyntheticTokens::SyntheticTokens(const DatasetOptions& options)
    : SyntheticDataset(options.count.value_or(kSquadFeatures)), length_(options.sequence_length) {
  need_at_least(kMinLength, "sequence length", length_);
}

std::vector<TensorLayout> SyntheticTokens::layout() const {
  return question_layout(length_);
}

bool SyntheticTokens::read(const SampleKey& key, std::span<std::byte* const> destinations,
                           ReadScratch&, ReadCost& cost, SkippedItem&) const {
  const double start_s = steady_now_s();
  base::CounterRandom random = stream(key.seed, key.index);
  const Shape shape = draw_shape(random, length_);
  const auto numbers = [&](std::size_t tensor) {
    return reinterpret_cast<std::int64_t*>(destinations[tensor]);
  };
  std::int64_t* ids = numbers(0);
  for (std::int64_t i = 0; i < shape.used(); ++i) ids[i] = draw_word(random);
  ids[0] = kClsId;
  ids[shape.question + 1] = ids[shape.used() - 1] = kSepId;
  std::fill(ids + shape.used(), ids + length_, 0);
  for (std::int64_t i = 0; i < length_; ++i) {
    const bool is_used = i < shape.used();
    numbers(1)[i] = is_used && i > shape.question + 1 ? 1 : 0;
    numbers(2)[i] = is_used ? 1 : 0;
  }
  *numbers(3) = shape.start;
  *numbers(4) = shape.end;
  cost.decode_s += steady_now_s() - start_s;
  return true;
}

std::map<std::string, std::string> SyntheticTokens::facts() const {
  constexpr std::int64_t kLooked = 1000;
  std::int64_t used = 0;
  for (std::int64_t index = 0; index < kLooked; ++index) {
    base::CounterRandom random = stream(0, index);
    used += draw_shape(random, length_).used();
  }
  const double share = static_cast<double>(used) / static_cast<double>(kLooked * length_);
  return {{"format", "synthetic"},
          {"statistics", "lengths, answers and word frequencies as of SQuAD v1.1"},
          {"samples", std::to_string(size())},
          {"sequence_length", std::to_string(length_)},
          {"padding_share", base::number_text(1 - share)}};
}

}  // namespace falcon::data
