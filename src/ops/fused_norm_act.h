// The fused GPU form of ops::norm_act (src/ops/cuda/norm_act_kernels.h) behind autograd.
#pragma once
#include <ATen/core/Tensor.h>

#include "ops/norm_act.h"

namespace falcon::ops {

/// Whether this build has it.
bool has_fused_norm_act();

/// Whether the fused form takes this call: training on a GPU, channels_last float32, half or
/// bfloat16 whose channels fill 16-byte vectors, float32 weights, in a build with CUDA.
bool fused_norm_act_applies(const at::Tensor& x, const NormTensors& norm, bool training,
                            const at::Tensor& residual);

/// Same contract as norm_act. REQUIRES: fused_norm_act_applies.
at::Tensor fused_norm_act(const at::Tensor& x, const NormTensors& norm, Activation activation,
                          const at::Tensor& residual);

}  // namespace falcon::ops
