// The updates of optimizers for many tensors at once, with everything that changes from step to
// step on the device, and with values that are computed with in 16 bit.
#pragma once
#include <optional>

#include <ATen/core/Tensor.h>

namespace falcon::ops {

/// Lists of the same length; beside each other tensors of the same shape and dense strides.
struct UpdatedTensors {
  at::TensorList values;
  at::TensorList gradients;    // all of the values' type or, with copies, of theirs; may be changed
  at::TensorList copies = {};  // none, or all of one 16-bit type: become the rounded values
};

/// Tensors are scalars on the device of the values: lr, varying_momentum and count float32 on a
/// GPU, any floating type on the CPU, grad_scale and found_inf float32.
struct MomentumUpdate {
  at::Tensor lr;
  double momentum = 0;
  std::optional<at::Tensor> varying_momentum = {};  // in place of momentum
  double weight_decay = 0;
  bool nesterov = false;
  std::optional<at::Tensor> grad_scale = {};  // gradients are divided by it
  std::optional<at::Tensor> found_inf = {};   // not 0: nothing changes
};

struct AdamWUpdate {
  at::Tensor lr;
  at::Tensor count;  // t: updates, this one included
  double beta1 = 0, beta2 = 0, eps = 0;
  double weight_decay = 0;
  std::optional<at::Tensor> grad_scale = {};
  std::optional<at::Tensor> found_inf = {};
};

/// g = gradient / grad_scale + weight_decay * p
/// v = momentum * v + g
/// p = p - lr * (nesterov ? g + momentum * v : v)
/// velocities may be empty for momentum 0. REQUIRES: float32 values on a GPU.
void momentum_update(const UpdatedTensors& tensors, at::TensorList velocities,
                     const MomentumUpdate& job);

/// g = gradient / grad_scale
/// m = beta1 * m + (1 - beta1) * g,  v = beta2 * v + (1 - beta2) * g^2
/// p = p * (1 - lr * weight_decay) - lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)
/// REQUIRES: float32 values on a GPU.
void adamw_update(const UpdatedTensors& tensors, at::TensorList first_moments,
                  at::TensorList second_moments, const AdamWUpdate& job);

}  // namespace falcon::ops
