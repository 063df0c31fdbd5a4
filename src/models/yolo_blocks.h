// The layers of YOLOv5 v7.0 (https://github.com/ultralytics/yolov5). Child names are those of its
// state_dict; images are [N, C, H, W] in either memory layout, which is kept.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/layers.h"
#include "models/module.h"

namespace falcon::models {

/// What a row of the network's table makes of one tensor.
class YoloLayer : public Module {
 public:
  virtual at::Tensor forward(const at::Tensor& x_NCHW, bool training) const = 0;
};

/// Convolution, batch normalisation (eps 1e-3, momentum 0.03), SiLU.
class ConvSilu : public YoloLayer {
 public:
  ConvSilu(std::int64_t in, std::int64_t out, std::int64_t kernel = 1, std::int64_t stride = 1)
      : ConvSilu(in, out, kernel, ops::ConvolutionShape{stride, kernel / 2}) {}
  ConvSilu(std::int64_t in, std::int64_t out, std::int64_t kernel, ops::ConvolutionShape shape);
  at::Tensor forward(const at::Tensor& x_NCHW, bool training) const override {
    return forward(x_NCHW, training, {});
  }
  /// residual is added behind the activation.
  at::Tensor forward(const at::Tensor& x_NCHW, bool training, const at::Tensor& residual) const;

 private:
  Convolution conv_;
  BatchNorm bn_;
};

/// 1x1, 3x3; with the shortcut the input is added.
class YoloBottleneck : public YoloLayer {
 public:
  YoloBottleneck(std::int64_t channels, bool shortcut);
  at::Tensor forward(const at::Tensor& x_NCHW, bool training) const override;

 private:
  bool shortcut_;
  ConvSilu cv1_;
  ConvSilu cv2_;
};

/// Two 1x1 to half the channels, one of them followed by bottlenecks; 1x1 over both.
class C3 : public YoloLayer {
 public:
  C3(std::int64_t in, std::int64_t out, int bottlenecks, bool shortcut);
  at::Tensor forward(const at::Tensor& x_NCHW, bool training) const override;

 private:
  ConvSilu cv1_;
  ConvSilu cv2_;
  ConvSilu cv3_;
  std::vector<std::unique_ptr<YoloBottleneck>> bottlenecks_;
};

/// Maxima over 5x5, 9x9 and 13x13 as three 5x5 pools one after another, between two 1x1.
class Sppf : public YoloLayer {
 public:
  Sppf(std::int64_t in, std::int64_t out);
  at::Tensor forward(const at::Tensor& x_NCHW, bool training) const override;

 private:
  ConvSilu cv1_;
  ConvSilu cv2_;
};

/// From the three maps of features to predictions: buffer anchors [3, 3, 2] in cells, and a biased
/// 1x1 convolution a level.
class Detect : public Module {
 public:
  static constexpr std::size_t kLevels = 3;
  static constexpr std::int64_t kAnchors = 3;  // a level
  static constexpr std::array<std::int64_t, kLevels> kStrides{8, 16, 32};

  Detect(const std::array<std::int64_t, kLevels>& channels, std::int64_t classes);

  /// A map a level: logits [N, 3, rows, columns, 5 + classes], a view of the convolution's result.
  std::vector<at::Tensor> maps(const std::array<at::Tensor, kLevels>& features) const;
  /// [N, all cells of all levels, 5 + classes]: centre and sides in pixels, objectness and classes
  /// as probabilities.
  at::Tensor detections(const std::vector<at::Tensor>& maps) const;
  const at::Tensor& anchors() const { return anchors_; }
  /// Sets a tensor of this name ("anchors", "m.0.bias", ...) to its start values; stream: its whole
  /// name.
  void initialize(const std::string& name, const at::Tensor& tensor, std::uint64_t seed,
                  const std::string& stream) const;

 private:
  class Predictor : public Module {
   public:
    Predictor(std::int64_t in, std::int64_t out);
    at::Tensor forward(const at::Tensor& x_NCHW) const;
    std::int64_t channels() const { return weight_.size(1); }

   private:
    at::Tensor weight_;
    at::Tensor bias_;
  };

  std::int64_t classes_;
  at::Tensor anchors_;
  std::array<std::unique_ptr<Predictor>, kLevels> m_;
};

}  // namespace falcon::models
