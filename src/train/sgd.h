// Stochastic gradient descent with momentum, one fused kernel for all parameters, steered from the
// device: learning rate, loss scale and the decision to skip are tensors.
#pragma once
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/run_spec.h>

#include "train/precision.h"

namespace falcon::train {

/// g = grad / loss scale, clipped to clip_norm over all parameters, + weight_decay * p
/// v = momentum * v + g, v = 0 at the start
/// p = p - lr * (nesterov ? g + momentum * v : v)          (torch.optim.SGD without dampening)
class Sgd {
 public:
  /// parameters: leaves of one floating type on one device. REQUIRES: resolved options of kind sgd.
  Sgd(std::vector<at::Tensor> parameters, const OptimizerSpec& options);

  /// Every parameter without a gradient, so that the backward pass stores instead of adding.
  void drop_gradients();
  /// One update with the gradients of the parameters; with a scaler also its check() and update().
  /// lr: scalar, float32 on a GPU, any floating type on the CPU.
  void step(const at::Tensor& lr, LossScaler* scaler);

 private:
  void clip(const LossScaler* scaler);

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> gradients_;  // of this step; kept for its memory
  std::vector<at::Tensor> velocities_;
  double momentum_;
  double weight_decay_;
  bool nesterov_;
  std::optional<double> clip_norm_;
};

}  // namespace falcon::train
