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
  /// logits [B, classes] of images [B, 3, H, W].
  virtual at::Tensor forward(const at::Tensor& images_NCHW, bool training,
                             const Hooks& hooks) const = 0;
  virtual std::vector<std::string> blocks() const = 0;  // Model::blocks()
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
  std::vector<std::string> blocks() const override { return network_->blocks(); }

 private:
  std::unique_ptr<ImageNetwork> network_;
};

}  // namespace falcon::models
