#include "models/resnet.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <falconbench/errors.h>

#include "models/classifier.h"
#include "models/initialization.h"
#include "models/layers.h"
#include "ops/basic.h"

namespace falcon::models {

namespace {

using ops::Activation;

constexpr std::int64_t kBaseChannels = 64;
constexpr std::int64_t kExpansion = 4;  // output channels of a block per inner channel

/// 1x1 reduce, 3x3, 1x1 expand, and the input (through a strided 1x1 where the shape changes) added
/// before the last ReLU.
class Bottleneck : public Module {
 public:
  Bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride)
      : conv1_(in, width, 1, {}),
        bn1_(width),
        conv2_(width, width, 3, {.stride = stride, .padding = 1}),
        bn2_(width),
        conv3_(width, width * kExpansion, 1, {}),
        bn3_(width * kExpansion) {
    add_child("conv1", conv1_);
    add_child("bn1", bn1_);
    add_child("conv2", conv2_);
    add_child("bn2", bn2_);
    add_child("conv3", conv3_);
    add_child("bn3", bn3_);
    if (stride != 1 || in != width * kExpansion) {
      projection_ = std::make_unique<Projection>(in, width * kExpansion, stride);
      add_child("downsample.0", projection_->conv);
      add_child("downsample.1", projection_->bn);
    }
  }

  at::Tensor forward(const at::Tensor& x_NCHW, bool training) const {
    const at::Tensor shortcut = projection_
                                    ? projection_->bn.forward(projection_->conv.forward(x_NCHW),
                                                              training, Activation::kNone)
                                    : x_NCHW;
    at::Tensor y = bn1_.forward(conv1_.forward(x_NCHW), training, Activation::kRelu);
    y = bn2_.forward(conv2_.forward(y), training, Activation::kRelu);
    return bn3_.forward(conv3_.forward(y), training, Activation::kRelu, shortcut);
  }

 private:
  struct Projection {
    Projection(std::int64_t in, std::int64_t out, std::int64_t stride)
        : conv(in, out, 1, {.stride = stride}), bn(out) {}
    Convolution conv;
    BatchNorm bn;
  };
  Convolution conv1_;
  BatchNorm bn1_;
  Convolution conv2_;
  BatchNorm bn2_;
  Convolution conv3_;
  BatchNorm bn3_;
  std::unique_ptr<Projection> projection_;
};

class ResNet : public ImageNetwork {
 public:
  /// base: channels after the first convolution; 64 for the reference.
  ResNet(const std::array<int, 4>& blocks_per_stage, std::int64_t base, std::int64_t classes)
      : features_(8 * base * kExpansion),
        conv1_(3, base, 7, {.stride = 2, .padding = 3}),
        bn1_(base),
        fc_(features_, classes) {
    add_child("conv1", conv1_);
    add_child("bn1", bn1_);
    std::int64_t in = base;
    for (std::size_t stage = 0; stage < blocks_per_stage.size(); ++stage) {
      const std::int64_t width = base << stage;
      for (int block = 0; block < blocks_per_stage[stage]; ++block) {
        const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        blocks_.push_back({"layer" + std::to_string(stage + 1) + "." + std::to_string(block),
                           std::make_unique<Bottleneck>(in, width, stride)});
        add_child(blocks_.back().name, *blocks_.back().block);
        in = width * kExpansion;
      }
    }
    add_child("fc", fc_);
  }

  at::Tensor forward(const at::Tensor& images_NCHW, bool training,
                     const Hooks& hooks) const override {
    const TapFunction& tap = hooks.tap;
    const auto tapped = [&tap](std::string_view name, const at::Tensor& value) {
      if (tap) {
        tap(name, value);
      }
      return value;
    };
    at::Tensor x = tapped("conv1", conv1_.forward(images_NCHW));
    if (tap) {
      tap("bn1", bn1_.normalized(x, training));
    }
    x = bn1_.forward(x, training, Activation::kRelu);
    x = tapped("maxpool", ops::max_pool2d(x, 3, 2, 1));
    std::size_t block = 0;
    for (const NamedBlock& entry : blocks_) {
      x = tapped(entry.name, entry.block->forward(hooks.entered(++block, x), training));
    }
    x = tapped("avgpool", ops::global_avg_pool(hooks.entered(++block, x)));
    return tapped("fc", fc_.forward(x.flatten(1)));
  }

  std::vector<std::string> blocks() const override {
    std::vector<std::string> prefixes;
    for (const NamedBlock& entry : blocks_) prefixes.push_back(entry.name + ".");
    prefixes.emplace_back("fc.");
    return prefixes;
  }

  void initialize(const std::string& name, const at::Tensor& tensor,
                  std::uint64_t seed) const override {
    if (name.starts_with("fc.")) {
      fill_uniform(tensor, 1 / std::sqrt(static_cast<double>(features_)), seed, name);
    } else {
      initialize_convolution_network(tensor, seed, name);
    }
  }

 private:
  struct NamedBlock {
    std::string name;
    std::unique_ptr<Bottleneck> block;
  };
  std::int64_t features_;
  Convolution conv1_;
  BatchNorm bn1_;
  std::vector<NamedBlock> blocks_;
  Linear fc_;
};

}  // namespace

std::unique_ptr<Model> make_resnet50(const ModelOptions& options) {
  if (options.dropout > 0) {
    throw Error(ExitCode::kUsage,
                "model_options.dropout: resnet50 has no dropout; only 0 is accepted");
  }
  return std::make_unique<Classifier>(std::make_unique<ResNet>(
      std::array{3, 4, 6, 3}, scaled_channels(kBaseChannels, options.width), options.classes));
}

}  // namespace falcon::models
