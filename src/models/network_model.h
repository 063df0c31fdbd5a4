// falcon::Model over a module tree: everything but forward, loss and the start values.
#pragma once
#include <utility>
#include <vector>

#include <falconbench/model.h>

#include "models/module.h"

namespace falcon::models {

class NetworkModel : public Model {
 public:
  std::vector<NamedTensor> parameters() const override;
  std::vector<NamedTensor> buffers() const override;
  std::vector<NamedTensor> state() const override;
  void set_training(bool training) override { training_ = training; }
  void to(at::Device device, at::ScalarType floating_type, bool channels_last) override;
  void set_fused(bool fused) override { tree_->set_fused(fused); }
  void set_tap(TapFunction tap) override { tap_ = std::move(tap); }

 protected:
  /// REQUIRES: tree lives as long as this.
  explicit NetworkModel(Module& tree) : tree_(&tree) {}
  bool training() const { return training_; }
  const TapFunction& tap() const { return tap_; }

 private:
  Module* tree_;
  TapFunction tap_;
  bool training_ = true;
};

}  // namespace falcon::models
