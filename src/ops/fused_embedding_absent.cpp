// The build without CUDA has no fused form.
#include "ops/fused_embedding.h"

namespace falcon::ops {

bool fused_embedding_applies(const EmbeddingTables&, const at::Tensor&) {
  return false;
}

at::Tensor fused_embedding(const EmbeddingTables& tables, const at::Tensor& ids,
                           const at::Tensor& type_ids) {
  return embedding(tables, ids, type_ids);
}

}  // namespace falcon::ops
