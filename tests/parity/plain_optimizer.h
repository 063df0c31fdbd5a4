// The optimizers and the moving average of the reference by their definitions, tensor by tensor.
#pragma once
#include <vector>

#include <falconbench/model.h>

#include "support/reference_set.h"

namespace falcon::test {

/// With the options of a section: SGD or AdamW, whose rates and momentum may be listed by step, and
/// the rates by group (biases, weights, norm weights).
class PlainOptimizer {
 public:
  /// REQUIRES: options outlives this.
  explicit PlainOptimizer(const Json& options) : options_(options) {}
  /// gradient_norm: of all gradients, before clipping.
  void step(const Model& model, std::size_t step_index, double gradient_norm);

 private:
  struct Update {
    at::Tensor parameter;
    at::Tensor gradient;  // clipped
    double lr = 0;
    double decay = 0;
    double momentum = 0;
  };
  bool is_adamw() const { return options_.at("name") == "AdamW"; }
  Update update_of(const NamedTensor& parameter, std::size_t step_index, double clip) const;
  void sgd(const Update& update, std::size_t i);
  void adamw(const Update& update, std::size_t i);

  const Json& options_;
  int count_ = 0;
  std::vector<at::Tensor> first_, second_;
};

/// The exponential moving average of a state: decay 0.9999 * (1 - exp(-updates / 2000)), updates
/// counted from 1.
class Average {
 public:
  explicit Average(const Model& model);
  void update(const Model& model);
  const std::vector<NamedTensor>& entries() const { return entries_; }

 private:
  std::vector<NamedTensor> entries_;
  double updates_ = 0;
};

}  // namespace falcon::test
