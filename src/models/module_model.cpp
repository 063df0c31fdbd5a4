#include "models/module_model.h"

#include "models/state.h"

namespace falcon::models {

std::vector<NamedTensor> ModuleModel::parameters() const {
  std::vector<NamedTensor> result;
  tree().visit([&](const std::string& name, const at::Tensor& tensor, Role role) {
    if (role == Role::kParameter) {
      result.push_back({name, tensor});
    }
  });
  return result;
}

std::vector<NamedTensor> ModuleModel::buffers() const {
  std::vector<NamedTensor> result;
  tree().visit([&](const std::string& name, const at::Tensor& tensor, Role role) {
    if (role == Role::kBuffer) {
      result.push_back({name, tensor});
    }
  });
  return result;
}

std::vector<NamedTensor> ModuleModel::state() const {
  std::vector<NamedTensor> result;
  tree().visit([&](const std::string& name, const at::Tensor& tensor, Role) {
    result.push_back({name, tensor});
  });
  return result;
}

void ModuleModel::to(at::Device device, at::ScalarType floating_type, bool channels_last) {
  for (const NamedTensor& entry : state()) {
    // Integer buffers are step counts, kept on the host (BatchNorm::forward).
    const bool is_count = !entry.tensor.is_floating_point();
    move_tensor(entry.tensor, is_count ? at::Device(at::kCPU) : device, floating_type,
                channels_last);
  }
}

}  // namespace falcon::models
