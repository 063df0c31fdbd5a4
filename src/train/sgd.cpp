#include "train/sgd.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/stack.h>

namespace falcon::train {

Sgd::Sgd(std::vector<at::Tensor> parameters, const OptimizerSpec& options)
    : parameters_(std::move(parameters)),
      gradients_(parameters_.size()),
      momentum_(options.momentum.value_or(0)),
      weight_decay_(options.weight_decay.value_or(0)),
      nesterov_(options.nesterov.value_or(false)),
      clip_norm_(options.clip_norm) {
  if (momentum_ == 0) return;
  // Zeros, not "first step": were the first step skipped by loss scaling, the buffers would stay
  // unset. The kernel walks memory, so the strides are the parameters' own.
  for (const at::Tensor& parameter : parameters_) {
    velocities_.push_back(
        at::empty_strided(parameter.sizes(), parameter.strides(), parameter.options()).zero_());
  }
}

void Sgd::drop_gradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

void Sgd::clip(const LossScaler* scaler) {
  constexpr double kTiny = 1e-6;  // as torch.nn.utils.clip_grad_norm_
  at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients_)), 2);
  if (scaler != nullptr) norm = norm.div(scaler->scale());
  const at::Tensor factor = at::reciprocal(norm.add_(kTiny)).mul_(*clip_norm_).clamp_max_(1.0);
  at::_foreach_mul_(gradients_, factor);
}

void Sgd::step(const at::Tensor& lr, LossScaler* scaler) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) gradients_[i] = parameters_[i].grad();
  std::optional<at::Tensor> scale;
  std::optional<at::Tensor> found_inf;
  if (scaler != nullptr) {
    scaler->check(gradients_);
    scale = scaler->scale();
    found_inf = scaler->found_inf();
  }
  if (clip_norm_) clip(scaler);
  at::_fused_sgd_(parameters_, gradients_, velocities_, weight_decay_, momentum_, lr,
                  /*dampening=*/0, nesterov_, /*maximize=*/false, /*is_first_step=*/false, scale,
                  found_inf);
  if (scaler != nullptr) scaler->update();
  for (at::Tensor& gradient : gradients_) gradient.reset();
}

}  // namespace falcon::train
