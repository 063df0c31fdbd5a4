// The tensors of a question answering sample, which every data set of the task gives alike.
#pragma once
#include <cstdint>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::data {

/// All int64: input_ids, token_type_ids, attention_mask [sequence_length]; start_positions and
/// end_positions, numbers, both 0 where the answer is not in the sequence.
std::vector<TensorLayout> question_layout(std::int64_t sequence_length);

}  // namespace falcon::data
