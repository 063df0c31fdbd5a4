#include "ops/basic.h"

#include <array>
#include <optional>

#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/upsample_nearest2d.h>

namespace falcon::ops {

at::Tensor conv2d(const at::Tensor& images, const at::Tensor& filter, const ConvolutionShape& shape,
                  const at::Tensor& bias) {
  const std::array<std::int64_t, 2> stride{shape.stride, shape.stride};
  const std::array<std::int64_t, 2> padding{shape.padding, shape.padding};
  const std::array<std::int64_t, 2> dilation{1, 1};
  const std::optional<at::Tensor> added = bias.defined() ? std::optional(bias) : std::nullopt;
  return at::conv2d(images, filter, added, stride, padding, dilation, shape.groups);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::linear(x, weight, bias);
}

at::Tensor max_pool2d(const at::Tensor& images, std::int64_t kernel, std::int64_t stride,
                      std::int64_t padding) {
  return at::max_pool2d(images, {kernel, kernel}, {stride, stride}, {padding, padding});
}

at::Tensor upsample_twice(const at::Tensor& images) {
  return at::upsample_nearest2d(images, {2 * images.size(2), 2 * images.size(3)}, 2.0, 2.0);
}

at::Tensor concat_channels(at::TensorList images) {
  return at::cat(images, 1);
}

at::Tensor global_avg_pool(const at::Tensor& images) {
  return at::adaptive_avg_pool2d(images, {1, 1});
}

at::Tensor dropout(const at::Tensor& x, double probability, bool training) {
  return training && probability > 0 ? at::dropout(x, probability, /*train=*/true) : x;
}

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels) {
  const bool is_narrow = logits.scalar_type() == at::kHalf || logits.scalar_type() == at::kBFloat16;
  return at::cross_entropy_loss(is_narrow ? logits.to(at::kFloat) : logits, labels);
}

}  // namespace falcon::ops
