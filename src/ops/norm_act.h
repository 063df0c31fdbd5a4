// Batch normalisation, residual addition and activation as one operator: the part of a convolution
// network that moves the most memory besides the convolutions, and so the one that has a fused form
// on a GPU.
#pragma once
#include <ATen/core/Tensor.h>

namespace falcon::ops {

enum class Activation {
  kNone,
  kRelu,
  kRelu6,
  kSilu,  // x / (1 + exp(-x)); a residual is added after it, as in YOLOv5's bottleneck
};

/// What one batch normalisation owns: [C] tensors of one floating type (float32 also beside 16-bit
/// inputs).
struct NormTensors {
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor
      running_mean;  // undefined together with running_var: batch statistics, nothing is updated
  at::Tensor running_var;
  double momentum = 0.1;  // share of the new statistics in the running ones (PyTorch's sense)
  double eps = 1e-5;
  bool fused = true;           // the fused GPU form may be used where it applies
  mutable at::Tensor tickets;  // its device scratch: made at first use, zero between calls
};

/// activation(weight * (x - mean) / sqrt(var + eps) + bias + residual), for kSilu
/// activation(weight * (x - mean) / sqrt(var + eps) + bias) + residual; x and residual [N, C, H, W]
/// of one type and layout; residual undefined: none. training: mean and (biased) variance of this
/// batch over N, H, W; the running ones are updated in place, the variance with the unbiased
/// estimate. Otherwise the running ones are used. Counts no steps. The result is a new tensor in
/// x's layout; residual is not changed. On a GPU one fused operator does it where it applies
/// (ops/fused_norm_act.h).
at::Tensor norm_act(const at::Tensor& x, const NormTensors& norm, bool training,
                    Activation activation, const at::Tensor& residual = {});

}  // namespace falcon::ops
