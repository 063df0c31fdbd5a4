#include "models/mobilenet.h"

#include <array>
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

constexpr double kReferenceDropout = 0.2;
constexpr double kClassifierStddev = 0.01;
constexpr std::int64_t kStemChannels = 32;
constexpr std::int64_t kLastChannels = 1280;

/// Convolution, batch normalisation, ReLU6: children 0 and 1 of `prefix` (features.0, conv.0, ...).
struct ConvNormRelu6 {
  ConvNormRelu6(std::int64_t in, std::int64_t out, std::int64_t kernel, ops::ConvolutionShape shape)
      : conv(in, out, kernel, shape), bn(out) {}
  at::Tensor forward(const at::Tensor& x_NCHW, bool training) const {
    return bn.forward(conv.forward(x_NCHW), training, Activation::kRelu6);
  }
  Convolution conv;
  BatchNorm bn;
};

/// Expand by 1x1 (left out for expansion 1), 3x3 per channel, project by 1x1 without activation;
/// the input is added where the shape stays.
class InvertedResidual : public Module {
 public:
  InvertedResidual(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t expansion)
      : has_shortcut_(stride == 1 && in == out),
        depthwise_(in * expansion, in * expansion, 3,
                   {.stride = stride, .padding = 1, .groups = in * expansion}),
        project_(in * expansion, out, 1, {}),
        project_bn_(out) {
    int index = 0;
    const auto add = [this, &index](ConvNormRelu6& part) {
      const std::string prefix = "conv." + std::to_string(index++);
      add_child(prefix + ".0", part.conv);
      add_child(prefix + ".1", part.bn);
    };
    if (expansion != 1) {
      expand_ = std::make_unique<ConvNormRelu6>(in, in * expansion, 1, ops::ConvolutionShape{});
      add(*expand_);
    }
    add(depthwise_);
    add_child("conv." + std::to_string(index), project_);
    add_child("conv." + std::to_string(index + 1), project_bn_);
  }

  at::Tensor forward(const at::Tensor& x_NCHW, bool training) const {
    at::Tensor y = expand_ ? expand_->forward(x_NCHW, training) : x_NCHW;
    y = project_.forward(depthwise_.forward(y, training));
    return project_bn_.forward(y, training, Activation::kNone,
                               has_shortcut_ ? x_NCHW : at::Tensor());
  }

 private:
  bool has_shortcut_;
  std::unique_ptr<ConvNormRelu6> expand_;
  ConvNormRelu6 depthwise_;
  Convolution project_;
  BatchNorm project_bn_;
};

/// One row of table 2 of the paper: `blocks` blocks, the first with this stride.
struct Stage {
  std::int64_t expansion;
  std::int64_t channels;
  int blocks;
  std::int64_t stride;
};
constexpr std::array<Stage, 7> kStages{{{1, 16, 1, 1},
                                        {6, 24, 2, 2},
                                        {6, 32, 3, 2},
                                        {6, 64, 4, 2},
                                        {6, 96, 3, 1},
                                        {6, 160, 3, 2},
                                        {6, 320, 1, 1}}};

class MobileNetV2 : public ImageNetwork {
 public:
  /// The last 1x1 convolution keeps its channels in a narrow network, as in section 6.1 of the
  /// paper.
  MobileNetV2(std::int64_t classes, double width, double dropout)
      : dropout_(dropout),
        stem_(3, scaled_channels(kStemChannels, width), 3, {.stride = 2, .padding = 1}),
        head_(scaled_channels(kStages.back().channels, width), kLastChannels, 1, {}),
        classifier_(kLastChannels, classes) {
    add_child("features.0.0", stem_.conv);
    add_child("features.0.1", stem_.bn);
    std::int64_t in = scaled_channels(kStemChannels, width);
    for (const Stage& stage : kStages) {
      const std::int64_t out = scaled_channels(stage.channels, width);
      for (int block = 0; block < stage.blocks; ++block) {
        blocks_.push_back(std::make_unique<InvertedResidual>(in, out, block == 0 ? stage.stride : 1,
                                                             stage.expansion));
        add_child(feature_name(blocks_.size()), *blocks_.back());
        in = out;
      }
    }
    add_child(feature_name(blocks_.size() + 1) + ".0", head_.conv);
    add_child(feature_name(blocks_.size() + 1) + ".1", head_.bn);
    add_child("classifier.1", classifier_);
  }

  at::Tensor forward(const at::Tensor& images_NCHW, bool training,
                     const Hooks& hooks) const override {
    const TapFunction& tap = hooks.tap;
    std::size_t index = 0;
    const auto tapped_feature = [&tap, &index](const at::Tensor& value) {
      if (tap) {
        tap(feature_name(index), value);
      }
      ++index;
      return value;
    };
    at::Tensor x = tapped_feature(stem_.forward(images_NCHW, training));
    for (const auto& block : blocks_) {
      x = tapped_feature(block->forward(hooks.entered(index, x), training));
    }
    x = tapped_feature(head_.forward(hooks.entered(index, x), training));
    x = ops::dropout(ops::global_avg_pool(x).flatten(1), dropout_, training);
    x = classifier_.forward(hooks.entered(index, x));
    if (tap) {
      tap("classifier.1", x);
    }
    return x;
  }

  std::vector<std::string> blocks() const override {
    std::vector<std::string> prefixes;
    for (std::size_t i = 1; i <= blocks_.size() + 1; ++i) prefixes.push_back(feature_name(i) + ".");
    prefixes.emplace_back("classifier.");
    return prefixes;
  }

  void initialize(const std::string& name, const at::Tensor& tensor,
                  std::uint64_t seed) const override {
    if (name == "classifier.1.weight") {
      fill_normal(tensor, kClassifierStddev, seed, name);
    } else {
      initialize_convolution_network(tensor, seed, name);
    }
  }

 private:
  static std::string feature_name(std::size_t index) { return "features." + std::to_string(index); }

  double dropout_;
  ConvNormRelu6 stem_;
  std::vector<std::unique_ptr<InvertedResidual>> blocks_;
  ConvNormRelu6 head_;
  Linear classifier_;
};

}  // namespace

std::unique_ptr<Model> make_mobilenet_v2(const ModelOptions& options) {
  const double dropout = options.dropout < 0 ? kReferenceDropout : options.dropout;
  return std::make_unique<Classifier>(
      std::make_unique<MobileNetV2>(options.classes, options.width, dropout));
}

}  // namespace falcon::models
