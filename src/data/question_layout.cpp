#include "data/question_layout.h"

namespace falcon::data {

std::vector<TensorLayout> question_layout(std::int64_t sequence_length) {
  return {
      {"input_ids", ElementType::kInt64, {sequence_length}},
      {"token_type_ids", ElementType::kInt64, {sequence_length}},
      {"attention_mask", ElementType::kInt64, {sequence_length}},
      {"start_positions", ElementType::kInt64, {}},
      {"end_positions", ElementType::kInt64, {}},
  };
}

}  // namespace falcon::data
