#include "models/yolo_blocks.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "models/initialization.h"
#include "ops/basic.h"

namespace falcon::models {

namespace {

constexpr double kMomentum = 0.03;
constexpr double kEps = 1e-3;

/// Sides of the anchors in pixels, of level, anchor.
constexpr double kAnchorPixels[3][3][2] = {{{10, 13}, {16, 30}, {33, 23}},
                                           {{30, 61}, {62, 45}, {59, 119}},
                                           {{116, 90}, {156, 198}, {373, 326}}};

at::Tensor anchors_in_cells() {
  std::vector<double> cells;
  for (std::size_t level = 0; level < Detect::kLevels; ++level) {
    for (const auto& anchor : kAnchorPixels[level]) {
      for (const double side : anchor) {
        cells.push_back(side / static_cast<double>(Detect::kStrides[level]));
      }
    }
  }
  return at::tensor(cells, at::kFloat).view({3, Detect::kAnchors, 2});
}

}  // namespace

ConvSilu::ConvSilu(std::int64_t in, std::int64_t out, std::int64_t kernel,
                   ops::ConvolutionShape shape)
    : conv_(in, out, kernel, shape), bn_(out, kMomentum, kEps) {
  add_child("conv", conv_);
  add_child("bn", bn_);
}

at::Tensor ConvSilu::forward(const at::Tensor& x_NCHW, bool training,
                             const at::Tensor& residual) const {
  return bn_.forward(conv_.forward(x_NCHW), training, ops::Activation::kSilu, residual);
}

YoloBottleneck::YoloBottleneck(std::int64_t channels, bool shortcut)
    : shortcut_(shortcut), cv1_(channels, channels), cv2_(channels, channels, 3) {
  add_child("cv1", cv1_);
  add_child("cv2", cv2_);
}

at::Tensor YoloBottleneck::forward(const at::Tensor& x_NCHW, bool training) const {
  return cv2_.forward(cv1_.forward(x_NCHW, training), training, shortcut_ ? x_NCHW : at::Tensor());
}

C3::C3(std::int64_t in, std::int64_t out, int bottlenecks, bool shortcut)
    : cv1_(in, out / 2), cv2_(in, out / 2), cv3_(out / 2 * 2, out) {
  add_child("cv1", cv1_);
  add_child("cv2", cv2_);
  add_child("cv3", cv3_);
  for (int i = 0; i < bottlenecks; ++i) {
    bottlenecks_.push_back(std::make_unique<YoloBottleneck>(out / 2, shortcut));
    add_child("m." + std::to_string(i), *bottlenecks_.back());
  }
}

at::Tensor C3::forward(const at::Tensor& x_NCHW, bool training) const {
  at::Tensor y = cv1_.forward(x_NCHW, training);
  for (const auto& bottleneck : bottlenecks_) {
    y = bottleneck->forward(y, training);
  }
  return cv3_.forward(ops::concat_channels({y, cv2_.forward(x_NCHW, training)}), training);
}

Sppf::Sppf(std::int64_t in, std::int64_t out) : cv1_(in, in / 2), cv2_(in / 2 * 4, out) {
  add_child("cv1", cv1_);
  add_child("cv2", cv2_);
}

at::Tensor Sppf::forward(const at::Tensor& x_NCHW, bool training) const {
  const at::Tensor x = cv1_.forward(x_NCHW, training);
  const at::Tensor five = ops::max_pool2d(x, 5, 1, 2);
  const at::Tensor nine = ops::max_pool2d(five, 5, 1, 2);
  const at::Tensor thirteen = ops::max_pool2d(nine, 5, 1, 2);
  return cv2_.forward(ops::concat_channels({x, five, nine, thirteen}), training);
}

Detect::Predictor::Predictor(std::int64_t in, std::int64_t out)
    : weight_(add_parameter("weight", at::zeros({out, in, 1, 1}))),
      bias_(add_parameter("bias", at::zeros({out}))) {}

at::Tensor Detect::Predictor::forward(const at::Tensor& x_NCHW) const {
  return ops::conv2d(x_NCHW, weight_, {}, bias_);
}

Detect::Detect(const std::array<std::int64_t, kLevels>& channels, std::int64_t classes)
    : classes_(classes), anchors_(add_buffer("anchors", anchors_in_cells())) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    m_[level] = std::make_unique<Predictor>(channels[level], kAnchors * (5 + classes));
    add_child("m." + std::to_string(level), *m_[level]);
  }
}

std::vector<at::Tensor> Detect::maps(const std::array<at::Tensor, kLevels>& features) const {
  std::vector<at::Tensor> maps;
  for (std::size_t level = 0; level < kLevels; ++level) {
    const at::Tensor predicted = m_[level]->forward(features[level]);
    maps.push_back(predicted.unflatten(1, {kAnchors, 5 + classes_}).permute({0, 1, 3, 4, 2}));
  }
  return maps;
}

at::Tensor Detect::detections(const std::vector<at::Tensor>& maps) const {
  std::vector<at::Tensor> levels;
  for (std::size_t level = 0; level < kLevels; ++level) {
    // 16 bits are too few for a place in a picture
    const at::Tensor unit =
        at::sigmoid(maps[level].to(at::promoteTypes(maps[level].scalar_type(), at::kFloat)));
    const std::int64_t rows = unit.size(2), columns = unit.size(3);
    const auto stride = static_cast<double>(kStrides[level]);
    const at::Tensor column = at::arange(columns, unit.options()).view({1, columns});
    const at::Tensor row = at::arange(rows, unit.options()).view({rows, 1});
    const at::Tensor corner =
        at::stack({column.expand({rows, columns}), row.expand({rows, columns})}, 2);
    const at::Tensor place = (unit.narrow(4, 0, 2) * 2 - 0.5 + corner) * stride;
    const at::Tensor sides =
        (unit.narrow(4, 2, 2) * 2).square() *
        (anchors_[static_cast<std::int64_t>(level)] * stride).view({1, kAnchors, 1, 1, 2});
    const at::Tensor all = at::cat({place, sides, unit.narrow(4, 4, 1 + classes_)}, 4);
    levels.push_back(all.flatten(1, 3));
  }
  return at::cat(levels, 1);
}

void Detect::initialize(const std::string& name, const at::Tensor& tensor, std::uint64_t seed,
                        const std::string& stream) const {
  if (name == "anchors") {
    tensor.copy_(anchors_in_cells());
    return;
  }
  const auto level = static_cast<std::size_t>(name.at(2) - '0');
  fill_uniform(tensor, 1 / std::sqrt(static_cast<double>(m_[level]->channels())), seed, stream);
  if (!name.ends_with("bias")) {
    return;
  }
  // 8 objects in a picture of 640 pixels, and every class as rare as it is among all
  const double cells_a_side = 640.0 / static_cast<double>(kStrides[level]);
  const at::Tensor entries = tensor.view({kAnchors, 5 + classes_});
  entries.select(1, 4).add_(std::log(8 / (cells_a_side * cells_a_side)));
  entries.narrow(1, 5, classes_).add_(std::log(0.6 / (static_cast<double>(classes_) - 0.99999)));
}

}  // namespace falcon::models
