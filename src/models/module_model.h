// falcon::Model over a module tree: what does not depend on what the network computes.
#pragma once
#include <vector>

#include <falconbench/model.h>

#include "models/module.h"

namespace falcon::models {

class ModuleModel : public Model {
 public:
  std::vector<NamedTensor> parameters() const override;
  std::vector<NamedTensor> buffers() const override;
  std::vector<NamedTensor> state() const override;
  void set_training(bool training) override { training_ = training; }
  void to(at::Device device, at::ScalarType floating_type, bool channels_last) override;
  void set_fused(bool fused) override { tree().set_fused(fused); }
  void set_tap(TapFunction tap) override { tap_ = std::move(tap); }

 protected:
  /// Its tensors' names are those of the state_dict.
  virtual Module& tree() const = 0;
  bool is_training() const { return training_; }
  const TapFunction& tap() const { return tap_; }

 private:
  TapFunction tap_;
  bool training_ = true;
};

}  // namespace falcon::models
