#include "models/network_model.h"

#include <optional>

#include "models/state.h"

namespace falcon::models {

namespace {

/// Of this role; without one all.
std::vector<NamedTensor> tensors_of(const Module& tree, std::optional<Role> wanted) {
  std::vector<NamedTensor> result;
  tree.visit([&](const std::string& name, const at::Tensor& tensor, Role role) {
    if (!wanted || role == *wanted) {
      result.push_back({name, tensor});
    }
  });
  return result;
}

}  // namespace

std::vector<NamedTensor> NetworkModel::parameters() const {
  return tensors_of(*tree_, Role::kParameter);
}

std::vector<NamedTensor> NetworkModel::buffers() const {
  return tensors_of(*tree_, Role::kBuffer);
}

std::vector<NamedTensor> NetworkModel::state() const {
  return tensors_of(*tree_, {});
}

void NetworkModel::to(at::Device device, at::ScalarType floating_type, bool channels_last) {
  for (const NamedTensor& entry : state()) {
    // Integer buffers are step counts, kept on the host (BatchNorm::forward).
    const bool is_count = !entry.tensor.is_floating_point();
    move_tensor(entry.tensor, is_count ? at::Device(at::kCPU) : device, floating_type,
                channels_last);
  }
}

}  // namespace falcon::models
