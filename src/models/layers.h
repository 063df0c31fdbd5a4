// The layers that own tensors. Each is made with zeros and ones on the CPU; models/initialization.h
// fills them.
#pragma once
#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/module.h"
#include "ops/basic.h"
#include "ops/norm_act.h"

namespace falcon::models {

/// Channels of a layer in a network of another width: the multiple of 8 nearest to channels x
/// width, not less than 90 % of it (torchvision's _make_divisible). Width 1 keeps multiples of 8.
std::int64_t scaled_channels(std::int64_t channels, double width);

/// Convolution without bias: `weight` [out, in / groups, kernel, kernel].
class Convolution : public Module {
 public:
  Convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, ops::ConvolutionShape shape);
  at::Tensor forward(const at::Tensor& images_NCHW) const;

 private:
  ops::ConvolutionShape shape_;
  at::Tensor weight_;
};

/// Batch normalisation over N, H, W: weight, bias, running_mean, running_var [C],
/// num_batches_tracked (int64 scalar).
class BatchNorm : public Module {
 public:
  explicit BatchNorm(std::int64_t channels, double momentum = 0.1, double eps = 1e-5);

  /// ops::norm_act; in training also counts a step. The count stays on the host, whatever the
  /// device: a device kernel a layer for it would cost more than some of the layers.
  at::Tensor forward(const at::Tensor& x_NCHW, bool training, ops::Activation activation,
                     const at::Tensor& residual = {}) const;
  void set_fused(bool fused) override { norm_.fused = fused; }
  /// The normalised tensor alone, as forward() computes it before residual and activation; changes
  /// no state.
  at::Tensor normalized(const at::Tensor& x_NCHW, bool training) const;

 private:
  ops::NormTensors norm_;
  at::Tensor num_batches_tracked_;
};

/// weight [out, in], bias [out].
class Linear : public Module {
 public:
  Linear(std::int64_t in, std::int64_t out);
  at::Tensor forward(const at::Tensor& x_BI) const;
  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }

 private:
  at::Tensor weight_;
  at::Tensor bias_;
};

}  // namespace falcon::models
