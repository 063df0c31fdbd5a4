#include "models/yolo.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <falconbench/errors.h>

#include "models/initialization.h"
#include "models/network_model.h"
#include "models/yolo_blocks.h"
#include "models/yolo_loss.h"
#include "ops/basic.h"

namespace falcon::models {

namespace {

enum class Kind { kConv, kC3, kC3Plain, kSppf, kUpsample, kConcat };

/// A layer of the published table, for width and depth 1. It takes the result of the row before;
/// kConcat also that of row `with`.
struct Row {
  Kind kind;
  std::int64_t channels = 0;
  int repeats = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::size_t with = 0;
};

constexpr std::array<Row, 24> kTable{{
    {Kind::kConv, 64, 1, 6, 2},
    {Kind::kConv, 128, 1, 3, 2},
    {Kind::kC3, 128, 3},
    {Kind::kConv, 256, 1, 3, 2},
    {Kind::kC3, 256, 6},
    {Kind::kConv, 512, 1, 3, 2},
    {Kind::kC3, 512, 9},
    {Kind::kConv, 1024, 1, 3, 2},
    {Kind::kC3, 1024, 3},
    {Kind::kSppf, 1024},
    {Kind::kConv, 512},
    {Kind::kUpsample},
    {.kind = Kind::kConcat, .with = 6},
    {Kind::kC3Plain, 512, 3},
    {Kind::kConv, 256},
    {Kind::kUpsample},
    {.kind = Kind::kConcat, .with = 4},
    {Kind::kC3Plain, 256, 3},
    {Kind::kConv, 256, 1, 3, 2},
    {.kind = Kind::kConcat, .with = 14},
    {Kind::kC3Plain, 512, 3},
    {Kind::kConv, 512, 1, 3, 2},
    {.kind = Kind::kConcat, .with = 10},
    {Kind::kC3Plain, 1024, 3},
}};
constexpr std::array<std::size_t, Detect::kLevels> kDetectFrom{17, 20, 23};

struct Size {
  double depth;
  double width;
};

std::int64_t scaled_width(std::int64_t channels, double width) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(channels) * width / 8)) * 8;
}

int scaled_depth(int repeats, double depth) {
  return repeats > 1 ? std::max(static_cast<int>(std::nearbyint(repeats * depth)), 1) : repeats;
}

std::string row_name(std::size_t row) {
  return "model." + std::to_string(row);
}

class YoloNetwork : public Module {
 public:
  YoloNetwork(const Size& size, std::int64_t classes) {
    std::array<std::int64_t, kTable.size()> channels{};
    std::int64_t in = 3;
    for (std::size_t i = 0; i < kTable.size(); ++i) {
      layers_[i] = make_layer(kTable[i], size, in);
      if (layers_[i]) {
        add_child(row_name(i), *layers_[i]);
        in = scaled_width(kTable[i].channels, size.width);
      } else if (kTable[i].kind == Kind::kConcat) {
        in += channels[kTable[i].with];
      }
      channels[i] = in;
    }
    detect_ = std::make_unique<Detect>(
        std::array{channels[kDetectFrom[0]], channels[kDetectFrom[1]], channels[kDetectFrom[2]]},
        classes);
    add_child(row_name(kTable.size()), *detect_);
  }

  std::vector<at::Tensor> maps(const at::Tensor& images_NCHW, bool training,
                               const Hooks& hooks) const {
    std::array<at::Tensor, kTable.size()> results;
    at::Tensor x = images_NCHW;
    for (std::size_t i = 0; i < kTable.size(); ++i) {
      if (i > 0) {
        x = hooks.entered(i, x);
      }
      if (layers_[i]) {
        x = layers_[i]->forward(x, training);
      } else if (kTable[i].kind == Kind::kUpsample) {
        x = ops::upsample_twice(x);
      } else {
        x = ops::concat_channels({x, results[kTable[i].with]});
      }
      if (hooks.tap) {
        hooks.tap(row_name(i), x);
      }
      results[i] = x;
    }
    static_assert(kDetectFrom.back() == kTable.size() - 1);
    return detect_->maps({results[kDetectFrom[0]], results[kDetectFrom[1]],
                          hooks.entered(kTable.size(), results[kDetectFrom[2]])});
  }

  const Detect& detect() const { return *detect_; }

 private:
  /// nullptr for a row that owns no tensors.
  static std::unique_ptr<YoloLayer> make_layer(const Row& row, const Size& size, std::int64_t in) {
    const std::int64_t out = scaled_width(row.channels, size.width);
    const int repeats = scaled_depth(row.repeats, size.depth);
    switch (row.kind) {
      case Kind::kConv:
        // the stem's padding is the kernel's third: 6x6 in steps of 2 over even sides
        return row.kernel == 6 ? std::make_unique<ConvSilu>(
                                     in, out, 6, ops::ConvolutionShape{row.stride, /*padding=*/2})
                               : std::make_unique<ConvSilu>(in, out, row.kernel, row.stride);
      case Kind::kC3:
      case Kind::kC3Plain:
        return std::make_unique<C3>(in, out, repeats, row.kind == Kind::kC3);
      case Kind::kSppf:
        return std::make_unique<Sppf>(in, out);
      case Kind::kUpsample:
      case Kind::kConcat:
        break;
    }
    return nullptr;
  }

  std::array<std::unique_ptr<YoloLayer>, kTable.size()> layers_;
  std::unique_ptr<Detect> detect_;
};

YoloLossOptions loss_options(const ModelOptions& options) {
  YoloLossOptions loss;
  const double side = static_cast<double>(options.image_size) / 640;
  loss.objectness_gain *= side * side;
  loss.class_gain *= static_cast<double>(options.classes) / 80;
  return loss;
}

class Yolo : public NetworkModel {
 public:
  Yolo(const Size& size, const ModelOptions& options)
      : NetworkModel(network_),
        network_(size, options.classes),
        loss_options_(loss_options(options)),
        ranks_(options.ranks) {}

  std::vector<at::Tensor> forward(const Batch& batch) override {
    std::vector<at::Tensor> outputs = network_.maps(batch["images"], training(), hooks());
    if (!training()) {
      outputs.insert(outputs.begin(), network_.detect().detections(outputs));
    }
    return outputs;
  }

  at::Tensor loss(const std::vector<at::Tensor>& outputs, const Batch& batch) override {
    const std::vector<at::Tensor> maps(outputs.end() - Detect::kLevels, outputs.end());
    const at::Tensor total =
        yolo_loss(maps, batch["targets"], network_.detect().anchors(), loss_options_).total;
    return ranks_ > 1 ? total * ranks_ : total;
  }

  void initialize(std::uint64_t seed) override {
    const at::NoGradGuard no_grad;
    const std::string detect = row_name(kTable.size()) + ".";
    for (const NamedTensor& entry : state()) {
      if (entry.name.starts_with(detect)) {
        network_.detect().initialize(entry.name.substr(detect.size()), entry.tensor, seed,
                                     entry.name);
      } else {
        initialize_backbone(entry, seed);
      }
      // the reference begins a fresh run with weights that float16 can hold
      if (entry.tensor.is_floating_point()) {
        entry.tensor.copy_(entry.tensor.to(at::kHalf));
      }
    }
  }

  ImageNormalization image_normalization() const override { return {{0, 0, 0}, {1, 1, 1}}; }

  std::vector<std::string> blocks() const override {
    std::vector<std::string> prefixes;
    for (std::size_t i = 1; i <= kTable.size(); ++i) prefixes.push_back(row_name(i) + ".");
    return prefixes;
  }

 private:
  static void initialize_backbone(const NamedTensor& entry, std::uint64_t seed) {
    if (entry.tensor.dim() != 4) {
      initialize_convolution_network(entry.tensor, seed, entry.name);
      return;
    }
    const auto fan_in =
        static_cast<double>(entry.tensor.size(1) * entry.tensor.size(2) * entry.tensor.size(3));
    fill_uniform(entry.tensor, 1 / std::sqrt(fan_in), seed, entry.name);
  }

  YoloNetwork network_;
  YoloLossOptions loss_options_;
  std::int64_t ranks_;
};

std::unique_ptr<Model> make(const Size& size, const ModelOptions& options) {
  if (options.dropout > 0) {
    throw Error(ExitCode::kUsage,
                "model_options.dropout: YOLOv5 has no dropout; only 0 is accepted");
  }
  return std::make_unique<Yolo>(size, options);
}

}  // namespace

std::unique_ptr<Model> make_yolov5n(const ModelOptions& options) {
  return make({0.33, 0.25}, options);
}
std::unique_ptr<Model> make_yolov5s(const ModelOptions& options) {
  return make({0.33, 0.50}, options);
}
std::unique_ptr<Model> make_yolov5m(const ModelOptions& options) {
  return make({0.67, 0.75}, options);
}
std::unique_ptr<Model> make_yolov5l(const ModelOptions& options) {
  return make({1.0, 1.0}, options);
}
std::unique_ptr<Model> make_yolov5x(const ModelOptions& options) {
  return make({1.33, 1.25}, options);
}

}  // namespace falcon::models
