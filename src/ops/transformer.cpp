#include "ops/transformer.h"

#include <limits>

#include <ATen/SDPBackend.h>
#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include "ops/basic.h"
#include "ops/fused_embedding.h"
#include "ops/fused_residual_norm.h"

namespace falcon::ops {
namespace {

struct Heads {
  at::Tensor query, key, value;  // [B, heads, S, D], views
};

Heads heads_of(const at::Tensor& qkv, const AttentionShape& shape) {
  const std::int64_t width = qkv.size(1) / 3 / shape.heads;
  // unbind, whose gradient is one stack; three slices would each fill and add a whole gradient
  const std::vector<at::Tensor> parts =
      qkv.view({-1, shape.sequence, 3, shape.heads, width}).unbind(2);
  return {parts[0].transpose(1, 2), parts[1].transpose(1, 2), parts[2].transpose(1, 2)};
}

double lowest(at::ScalarType type) {
  if (type == at::kHalf) return std::numeric_limits<at::Half>::lowest();
  if (type == at::kBFloat16) return std::numeric_limits<at::BFloat16>::lowest();
  return type == at::kFloat ? std::numeric_limits<float>::lowest()
                            : std::numeric_limits<double>::lowest();
}

}  // namespace

at::Tensor layer_norm(const at::Tensor& x, const LayerNormTensors& norm, const at::Tensor& residual,
                      double dropout, bool training) {
  if (norm.fused && fused_residual_norm_applies(x, norm, residual)) {
    return fused_residual_norm(x, norm, residual, training ? dropout : 0);
  }
  const at::Tensor y = residual.defined() ? residual.add(ops::dropout(x, dropout, training)) : x;
  return at::layer_norm(y, norm.weight.sizes(), norm.weight, norm.bias, norm.eps);
}

at::Tensor gelu(const at::Tensor& x) {
  return at::gelu(x);
}

at::Tensor embedding(const EmbeddingTables& tables, const at::Tensor& ids,
                     const at::Tensor& type_ids) {
  if (tables.fused && fused_embedding_applies(tables, ids)) {
    return fused_embedding(tables, ids, type_ids);
  }
  const at::Tensor words = at::embedding(tables.words, ids, tables.padding_index);
  const at::Tensor types = at::embedding(tables.types, type_ids);
  return (words + types + tables.positions.narrow(0, 0, ids.size(1))).flatten(0, 1);
}

at::Tensor key_bias(const at::Tensor& attention_mask, at::ScalarType type) {
  const at::DeviceType device = attention_mask.device().type();
  if (at::autocast::is_autocast_enabled(device)) type = at::autocast::get_autocast_dtype(device);
  const at::Tensor bias = at::zeros(attention_mask.sizes(), attention_mask.options().dtype(type));
  return bias.masked_fill_(attention_mask.eq(0), lowest(type)).unsqueeze(1).unsqueeze(1);
}

at::Tensor attention(const at::Tensor& qkv, const at::Tensor& bias, const AttentionShape& shape) {
  const Heads heads = heads_of(qkv, shape);
  const at::Tensor mixed =
      at::scaled_dot_product_attention(heads.query, heads.key, heads.value, bias, shape.dropout);
  return mixed.transpose(1, 2).reshape({qkv.size(0), -1});
}

std::string attention_backend(const at::Tensor& qkv, const at::Tensor& bias,
                              const AttentionShape& shape) {
  const Heads heads = heads_of(qkv, shape);
  const std::int64_t choice =
      at::_fused_sdp_choice(heads.query, heads.key, heads.value, bias, shape.dropout);
  switch (static_cast<at::SDPBackend>(choice)) {
    case at::SDPBackend::flash_attention:
      return "flash";
    case at::SDPBackend::efficient_attention:
      return "memory-efficient";
    case at::SDPBackend::cudnn_attention:
      return "cuDNN";
    default:
      return "math";
  }
}

at::Tensor position_loss(const at::Tensor& logits, const at::Tensor& positions) {
  const bool is_narrow = logits.scalar_type() == at::kHalf || logits.scalar_type() == at::kBFloat16;
  const std::int64_t length = logits.size(1);
  return at::cross_entropy_loss(is_narrow ? logits.to(at::kFloat) : logits,
                                positions.to(at::kLong).clamp(0, length), /*weight=*/{},
                                at::Reduction::Mean, /*ignore_index=*/length);
}

}  // namespace falcon::ops
