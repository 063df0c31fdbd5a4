#include "ops/norm_act.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/relu6.h>
#include <ATen/ops/silu.h>

#include "ops/fused_norm_act.h"

namespace falcon::ops {

at::Tensor norm_act(const at::Tensor& x, const NormTensors& norm, bool training,
                    Activation activation, const at::Tensor& residual) {
  if (norm.fused && fused_norm_act_applies(x, norm, training, residual)) {
    return fused_norm_act(x, norm, activation, residual);
  }
  at::Tensor y = at::batch_norm(x, norm.weight, norm.bias, norm.running_mean, norm.running_var,
                                training, norm.momentum, norm.eps, /*cudnn_enabled=*/true);
  if (activation == Activation::kSilu) {
    // Not in place: the backward of silu keeps its input.
    const at::Tensor activated = at::silu(y);
    return residual.defined() ? activated.add(residual) : activated;
  }
  // In place: the backward of batch_norm keeps its input, not its output.
  if (residual.defined()) {
    y.add_(residual);
  }
  switch (activation) {
    case Activation::kNone:
    case Activation::kSilu:
      return y;
    case Activation::kRelu:
      return at::relu_(y);
    case Activation::kRelu6:
      return at::relu6_(y);
  }
  return y;
}

}  // namespace falcon::ops
