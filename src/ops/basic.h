// The operators of the models besides norm_act, each with one contract; plain ATen, so cuDNN and
// cuBLAS on a GPU. Differentiable. Images are [N, C, H, W], in either memory layout; the result
// keeps the layout of the input.
#pragma once
#include <cstdint>

#include <ATen/core/Tensor.h>

namespace falcon::ops {

/// Square strides and paddings, as all models here have them.
struct ConvolutionShape {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;
};

/// Cross-correlation: filter [O, C / groups, KH, KW]; bias [O], undefined: none.
at::Tensor conv2d(const at::Tensor& images, const at::Tensor& filter, const ConvolutionShape& shape,
                  const at::Tensor& bias = {});

/// x [B, I] times weight [O, I] transposed, plus bias [O].
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// Maximum over kernel x kernel windows; padded places never win.
at::Tensor max_pool2d(const at::Tensor& images, std::int64_t kernel, std::int64_t stride,
                      std::int64_t padding);

/// Every pixel four times: [N, C, 2 H, 2 W].
at::Tensor upsample_twice(const at::Tensor& images);

/// The channels of all images behind one another.
at::Tensor concat_channels(at::TensorList images);

/// Mean over H and W: [N, C, 1, 1].
at::Tensor global_avg_pool(const at::Tensor& images);

/// In training, zeroes elements with this probability and scales the others by 1 / (1 -
/// probability); else x itself. Random numbers come from the default generator of x's device.
at::Tensor dropout(const at::Tensor& x, double probability, bool training);

/// Mean over the batch of -log softmax(logits)[label]: logits [B, classes], labels int64 [B] in 0
/// .. classes - 1. 16-bit logits are widened to float32 first.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels);

}  // namespace falcon::ops
