#include "models/classifier.h"

#include <utility>

#include <ATen/core/grad_mode.h>

#include "models/state.h"
#include "ops/basic.h"

namespace falcon::models {

Classifier::Classifier(std::unique_ptr<ImageNetwork> network) : network_(std::move(network)) {}

std::vector<at::Tensor> Classifier::forward(const Batch& batch) {
  return {network_->forward(batch["images"], training_, tap_)};
}

at::Tensor Classifier::loss(const std::vector<at::Tensor>& outputs, const Batch& batch) {
  return ops::cross_entropy(outputs.at(0), batch["labels"]);
}

std::vector<NamedTensor> Classifier::parameters() const {
  std::vector<NamedTensor> result;
  network_->visit([&](const std::string& name, const at::Tensor& tensor, Role role) {
    if (role == Role::kParameter) {
      result.push_back({name, tensor});
    }
  });
  return result;
}

std::vector<NamedTensor> Classifier::buffers() const {
  std::vector<NamedTensor> result;
  network_->visit([&](const std::string& name, const at::Tensor& tensor, Role role) {
    if (role == Role::kBuffer) {
      result.push_back({name, tensor});
    }
  });
  return result;
}

std::vector<NamedTensor> Classifier::state() const {
  std::vector<NamedTensor> result;
  network_->visit([&](const std::string& name, const at::Tensor& tensor, Role) {
    result.push_back({name, tensor});
  });
  return result;
}

void Classifier::to(at::Device device, at::ScalarType floating_type, bool channels_last) {
  for (const NamedTensor& entry : state()) {
    // Integer buffers are step counts, kept on the host (BatchNorm::forward).
    const bool is_count = !entry.tensor.is_floating_point();
    move_tensor(entry.tensor, is_count ? at::Device(at::kCPU) : device, floating_type,
                channels_last);
  }
}

void Classifier::initialize(std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& entry : state()) {
    network_->initialize(entry.name, entry.tensor, seed);
  }
}

}  // namespace falcon::models
