// The update of momentum SGD for many tensors at once, with everything that changes from step to
// step on the device.
#pragma once
#include <optional>

#include <ATen/core/Tensor.h>

namespace falcon::ops {

/// Tensors are scalars on the device of the parameters; lr and varying_momentum float32 on a GPU,
/// any floating type on the CPU, grad_scale and found_inf float32.
struct MomentumUpdate {
  at::Tensor lr;
  double momentum = 0;
  std::optional<at::Tensor> varying_momentum = {};  // in place of momentum
  double weight_decay = 0;
  bool nesterov = false;
  std::optional<at::Tensor> grad_scale = {};  // gradients are divided by it
  std::optional<at::Tensor> found_inf = {};   // not 0: nothing changes
};

/// g = gradient / grad_scale + weight_decay * p
/// v = momentum * v + g
/// p = p - lr * (nesterov ? g + momentum * v : v)
/// The three lists hold tensors of the same shapes and strides, velocities may be empty for
/// momentum 0. Gradients may be changed. REQUIRES: float32 on a GPU with varying_momentum.
void momentum_update(at::TensorList parameters, at::TensorList gradients, at::TensorList velocities,
                     const MomentumUpdate& job);

}  // namespace falcon::ops
