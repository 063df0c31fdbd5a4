// What the image classifiers share: falcon::Model over a module tree. Batches are {images [B, 3, H,
// W], labels [B]}, outputs {logits [B, classes]}, the loss is the mean cross entropy.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <falconbench/model.h>

#include "models/module.h"
#include "models/network_model.h"

namespace falcon::models {

/// A network from images to logits: what resnet.cpp and mobilenet.cpp are.
class ImageNetwork : public Module {
 public:
  /// logits [B, classes] of images [B, 3, H, W]. An empty tap is not called; a tap changes no
  /// result.
  virtual at::Tensor forward(const at::Tensor& images_NCHW, bool training,
                             const TapFunction& tap) const = 0;
  /// Sets one tensor of the state to the reference's start values for this seed.
  virtual void initialize(const std::string& name, const at::Tensor& tensor,
                          std::uint64_t seed) const = 0;
};

class Classifier : public NetworkModel {
 public:
  explicit Classifier(std::unique_ptr<ImageNetwork> network)
      : NetworkModel(*network), network_(std::move(network)) {}

  std::vector<at::Tensor> forward(const Batch& batch) override;
  at::Tensor loss(const std::vector<at::Tensor>& outputs, const Batch& batch) override;
  void initialize(std::uint64_t seed) override;

 private:
  std::unique_ptr<ImageNetwork> network_;
};

}  // namespace falcon::models
