#include "models/classifier.h"

#include <ATen/core/grad_mode.h>

#include "ops/basic.h"

namespace falcon::models {

std::vector<at::Tensor> Classifier::forward(const Batch& batch) {
  return {network_->forward(batch["images"], training(), hooks())};
}

at::Tensor Classifier::loss(const std::vector<at::Tensor>& outputs, const Batch& batch) {
  return ops::cross_entropy(outputs.at(0), batch["labels"]);
}

void Classifier::initialize(std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& entry : state()) {
    network_->initialize(entry.name, entry.tensor, seed);
  }
}

}  // namespace falcon::models
