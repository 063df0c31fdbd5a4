// BERT (Devlin et al. 2018) without its pooler, for extractive question answering: the start and
// end of an answer among the tokens of a sequence.
#pragma once
#include <memory>

#include <falconbench/model.h>

namespace falcon::models {

/// Batches hold input_ids, token_type_ids, attention_mask [B, S], start_positions, end_positions
/// [B], int32 or int64, S at most 512; outputs are {start_logits, end_logits} [B, S]. The loss is
/// the mean of the two cross entropies over all S positions, padding included; a position outside
/// of the sequence is left out (ops::position_loss).
std::unique_ptr<Model> make_bert_base(const ModelOptions& options);
std::unique_ptr<Model> make_bert_large(const ModelOptions& options);

}  // namespace falcon::models
