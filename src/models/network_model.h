// falcon::Model over a module tree: everything but forward, loss and the start values.
#pragma once
#include <utility>
#include <vector>

#include <falconbench/model.h>

#include "models/module.h"

namespace falcon::models {

/// Who is told of a forward pass.
struct Hooks {
  TapFunction tap;         // may be empty
  BlockEntry block_entry;  // may be empty

  /// What block `block` is to be computed from. REQUIRES: block above 0.
  at::Tensor entered(std::size_t block, const at::Tensor& input) const {
    return block_entry ? block_entry(block, input) : input;
  }
};

class NetworkModel : public Model {
 public:
  std::vector<NamedTensor> parameters() const override;
  std::vector<NamedTensor> buffers() const override;
  std::vector<NamedTensor> state() const override;
  void set_training(bool training) override { training_ = training; }
  void to(at::Device device, at::ScalarType floating_type, bool channels_last) override;
  void set_fused(bool fused) override { tree_->set_fused(fused); }
  void set_tap(TapFunction tap) override { hooks_.tap = std::move(tap); }
  void set_block_entry(BlockEntry entry) override { hooks_.block_entry = std::move(entry); }

 protected:
  /// REQUIRES: tree lives as long as this.
  explicit NetworkModel(Module& tree) : tree_(&tree) {}
  bool training() const { return training_; }
  const Hooks& hooks() const { return hooks_; }
  const TapFunction& tap() const { return hooks_.tap; }

 private:
  Module* tree_;
  Hooks hooks_;
  bool training_ = true;
};

}  // namespace falcon::models
