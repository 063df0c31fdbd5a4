// The fused GPU form of ops::layer_norm with a residual: one kernel forward, two backward, where
// the plain form has six and more. Called by ops::layer_norm.
#pragma once
#include "ops/transformer.h"

namespace falcon::ops {

bool has_fused_residual_norm();  // in this build
/// Whether the fused form takes these: a residual, on a GPU, float32 norm tensors, rows of a
/// multiple of 8 and at most 1024 elements.
bool fused_residual_norm_applies(const at::Tensor& x, const LayerNormTensors& norm,
                                 const at::Tensor& residual);
/// As ops::layer_norm, in the type of x; the residual is converted to it. The dropout probability
/// is rounded to a multiple of 2^-16; its random numbers come from the default generator of the
/// device. REQUIRES: fused_residual_norm_applies().
at::Tensor fused_residual_norm(const at::Tensor& x, const LayerNormTensors& norm,
                               const at::Tensor& residual, double dropout);

}  // namespace falcon::ops
