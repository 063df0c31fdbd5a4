// The operators of a transformer encoder, each with one contract. Differentiable. Tokens of a batch
// are rows: x [T, H] holds B sequences of S tokens one after another, T = B * S.
#pragma once
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace falcon::ops {

/// x [T, I] times each weight [O, I] transposed plus its bias [O], the results side by side: [T,
/// sum of O], by one matrix product. Weights of one floating type on x's device. Under autocast in
/// its 16-bit type, and the gradients of weights and biases come out in the type of the weights
/// without having been rounded to 16 bit.
at::Tensor dense(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                 const std::vector<at::Tensor>& biases);

struct DenseBranch {
  at::Tensor y;  // dense(x, ...)
  at::Tensor x;
};
/// For an x that is used beside its product, too: with the x of the answer instead, both gradients
/// are added up by the product's backward pass and not by a kernel after it.
DenseBranch branched_dense(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                           const std::vector<at::Tensor>& biases);

struct LayerNormTensors {
  at::Tensor weight;  // [H]
  at::Tensor bias;
  double eps = 1e-12;
  bool fused = true;  // the fused GPU form may be used where it applies
};

/// weight * (y - mean) / sqrt(var + eps) + bias over the last axis, y = x, or residual + dropout(x)
/// (ops/basic.h) when residual is defined. On a GPU one fused operator does it where it applies
/// (ops/fused_residual_norm.h), in the type of x.
at::Tensor layer_norm(const at::Tensor& x, const LayerNormTensors& norm,
                      const at::Tensor& residual = {}, double dropout = 0, bool training = false);

/// x * (1 + erf(x / sqrt 2)) / 2
at::Tensor gelu(const at::Tensor& x);

/// What the embedding of a token is summed up of; of one floating type.
struct EmbeddingTables {
  at::Tensor words;                 // [N, H]
  at::Tensor types;                 // [types, H]
  at::Tensor positions;             // [P, H]
  std::int64_t padding_index = -1;  // the row of words that has no gradient
  bool fused = true;                // the fused GPU form may be used where it applies
};

/// words[ids] + types[type_ids] + positions[0 .. S - 1], [T, H]; ids and type_ids [B, S], int32 or
/// int64, in the range of their table; S at most P. On a GPU one fused operator does it where it
/// applies (ops/fused_embedding.h).
at::Tensor embedding(const EmbeddingTables& tables, const at::Tensor& ids,
                     const at::Tensor& type_ids);

/// The bias that attention() adds to its scores, [B, 1, 1, S]: 0 where attention_mask [B, S] is not
/// 0, else the lowest number of the type. Under autocast of its 16-bit type, else of `type`.
at::Tensor key_bias(const at::Tensor& attention_mask, at::ScalarType type);

struct AttentionShape {
  std::int64_t sequence = 0;  // S
  std::int64_t heads = 0;
  double dropout = 0;  // of the weights of the values; 0 outside of training
};

/// softmax(q k^T / sqrt(D) + bias) v for each head, q, k, v side by side in qkv [T, 3 * heads * D]:
/// [T, heads * D].
at::Tensor attention(const at::Tensor& qkv, const at::Tensor& bias, const AttentionShape& shape);
/// The back end that attention() takes for these: math, flash, memory-efficient, cuDNN.
std::string attention_backend(const at::Tensor& qkv, const at::Tensor& bias,
                              const AttentionShape& shape);

/// Mean over the batch of -log softmax(logits)[position], logits [B, S]. Positions are clamped to 0
/// .. S, and a sample whose position is S then is left out. 16-bit logits are widened first.
at::Tensor position_loss(const at::Tensor& logits, const at::Tensor& positions);

}  // namespace falcon::ops
