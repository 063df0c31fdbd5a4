// The fused GPU form of ops::embedding: one kernel forward and four backward, where the plain form
// has four and more than forty. Called by ops::embedding.
#pragma once
#include "ops/transformer.h"

namespace falcon::ops {

/// Whether the fused form takes these: contiguous float32 tables on a GPU, two types of tokens,
/// rows of a multiple of 4 and at most 1024 elements.
bool fused_embedding_applies(const EmbeddingTables& tables, const at::Tensor& ids);
/// As ops::embedding. REQUIRES: fused_embedding_applies().
at::Tensor fused_embedding(const EmbeddingTables& tables, const at::Tensor& ids,
                           const at::Tensor& type_ids);

}  // namespace falcon::ops
