// What the network sees of a question: [CLS] question [SEP] a window of the context [SEP], and
// where the answer stands in it. Equal to run_qa.py of Hugging Face transformers (doc_stride is the
// overlap of two windows; in google-research/bert it is the step), but for its known fault: an
// answer that starts at the last context token of a window keeps its place here, where run_qa gives
// the last position of the sequence.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/squad_tokens.h"

namespace falcon::data {

struct WindowOptions {
  std::int64_t sequence_length = 384;  // with [CLS] and both [SEP]
  std::int64_t doc_stride = 128;       // context tokens that two neighbouring windows share
};

struct SquadFeature {
  std::uint32_t question = 0;     // index in SquadTokens::questions
  std::uint32_t first_token = 0;  // of the context
  std::uint32_t num_tokens = 0;   // of the context
  std::uint32_t start = 0;        // positions in the sequence; both 0 when the window does not
  std::uint32_t end = 0;          // hold the whole answer, or there is none
};

/// In the order of the questions and windows. left_out is called with the index of a question that
/// leaves no room for its context, nor for doc_stride + 1 tokens of it. Pure.
std::vector<SquadFeature> make_features(const SquadTokens& tokens, const WindowOptions& options,
                                        const std::function<void(std::size_t)>& left_out);

/// Tokens of a feature without padding.
std::int64_t sequence_tokens(const SquadTokens& tokens, const SquadFeature& feature);

/// Writes the sequence, padded with pad_id, type 0 and mask 0. Each span has the sequence length.
struct SequenceViews {
  std::span<std::int64_t> ids, types, mask;
};
void write_sequence(const SquadTokens& tokens, const SquadFeature& feature,
                    const Vocabulary& vocabulary, const SequenceViews& out);

}  // namespace falcon::data
