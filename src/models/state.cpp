#include "models/state.h"

#include <array>
#include <map>
#include <sstream>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>

#include <falconbench/errors.h>

namespace falcon::models {

namespace {

std::array<std::int64_t, 4> image_strides(at::IntArrayRef sizes, bool channels_last) {
  const std::int64_t channels = sizes[1];
  const std::int64_t height = sizes[2];
  const std::int64_t width = sizes[3];
  if (channels_last) {
    return {height * width * channels, 1, width * channels, channels};
  }
  return {channels * height * width, height * width, width, 1};
}

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

}  // namespace

void move_tensor(const at::Tensor& tensor, at::Device device, at::ScalarType floating_type,
                 bool channels_last) {
  const at::NoGradGuard no_grad;
  const at::ScalarType type = tensor.is_floating_point() ? floating_type : tensor.scalar_type();
  at::Tensor moved;
  if (tensor.dim() == 4) {
    moved = at::empty_strided(tensor.sizes(), image_strides(tensor.sizes(), channels_last),
                              tensor.options().device(device).dtype(type));
    moved.copy_(tensor);
  } else {
    moved = tensor.detach().to(device, type, /*non_blocking=*/false, /*copy=*/true);
  }
  tensor.mutable_grad().reset();  // its type and layout would no longer be the parameter's
  tensor.set_data(moved);
}

void copy_state(Model& model, const std::vector<NamedTensor>& values, const std::string& source) {
  std::map<std::string, at::Tensor> given;
  for (const NamedTensor& value : values) {
    given[value.name] = value.tensor;
  }
  std::vector<Fault> faults;
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;  // to, from
  const auto fault = [&](const std::string& name, const std::string& message) {
    faults.push_back({.source = source, .key = name, .message = message});
  };
  for (const NamedTensor& entry : model.state()) {
    const auto found = given.extract(entry.name);
    if (found.empty()) {
      fault(entry.name, "missing; the model needs it");
    } else if (found.mapped().sizes() != entry.tensor.sizes()) {
      fault(entry.name, "has shape " + shape_text(found.mapped()) + ", the model's is " +
                            shape_text(entry.tensor));
    } else {
      copies.emplace_back(entry.tensor, found.mapped());
    }
  }
  for (const auto& [name, tensor] : given) {
    fault(name, "the model has no such tensor");
  }
  if (!faults.empty()) {
    throw InputError(std::move(faults));
  }
  const at::NoGradGuard no_grad;
  for (const auto& [to, from] : copies) {
    to.copy_(from);
  }
}

}  // namespace falcon::models
