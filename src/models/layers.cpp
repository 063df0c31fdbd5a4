#include "models/layers.h"

#include <algorithm>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace falcon::models {

std::int64_t scaled_channels(std::int64_t channels, double width) {
  const double exact = static_cast<double>(channels) * width;
  const auto nearest = std::max<std::int64_t>(8, static_cast<std::int64_t>(exact + 4) / 8 * 8);
  return static_cast<double>(nearest) < 0.9 * exact ? nearest + 8 : nearest;
}

Convolution::Convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                         ops::ConvolutionShape shape)
    : shape_(shape),
      weight_(add_parameter("weight", at::zeros({out, in / shape.groups, kernel, kernel}))) {}

at::Tensor Convolution::forward(const at::Tensor& images_NCHW) const {
  return ops::conv2d(images_NCHW, weight_, shape_);
}

BatchNorm::BatchNorm(std::int64_t channels, double momentum, double eps) {
  norm_.weight = add_parameter("weight", at::ones({channels}));
  norm_.bias = add_parameter("bias", at::zeros({channels}));
  norm_.running_mean = add_buffer("running_mean", at::zeros({channels}));
  norm_.running_var = add_buffer("running_var", at::ones({channels}));
  norm_.momentum = momentum;
  norm_.eps = eps;
  num_batches_tracked_ = add_buffer("num_batches_tracked", at::zeros({}, at::kLong));
}

at::Tensor BatchNorm::forward(const at::Tensor& x_NCHW, bool training, ops::Activation activation,
                              const at::Tensor& residual) const {
  if (training) {
    *num_batches_tracked_.mutable_data_ptr<std::int64_t>() += 1;
  }
  return ops::norm_act(x_NCHW, norm_, training, activation, residual);
}

at::Tensor BatchNorm::normalized(const at::Tensor& x_NCHW, bool training) const {
  const at::NoGradGuard no_grad;
  ops::NormTensors norm = norm_;
  if (training) {
    norm.running_mean.reset();
    norm.running_var.reset();
  }
  return ops::norm_act(x_NCHW, norm, training, ops::Activation::kNone);
}

Linear::Linear(std::int64_t in, std::int64_t out)
    : weight_(add_parameter("weight", at::zeros({out, in}))),
      bias_(add_parameter("bias", at::zeros({out}))) {}

at::Tensor Linear::forward(const at::Tensor& x_BI) const {
  return ops::linear(x_BI, weight_, bias_);
}

}  // namespace falcon::models
