#include <ATen/core/grad_mode.h>

#include <falconbench/strategy.h>

namespace falcon {

std::vector<Slice> whole_slices(const std::vector<NamedTensor>& parameters) {
  std::vector<Slice> slices;
  for (const NamedTensor& parameter : parameters) {
    slices.push_back({parameter, parameter.tensor, {}, {}});
  }
  return slices;
}

void Strategy::drop_gradients() {
  for (const NamedTensor& parameter : model_.parameters()) parameter.tensor.mutable_grad().reset();
}

at::Tensor Strategy::loss(const Batch& batch) {
  return model_.loss(model_.forward(batch), batch);
}

std::vector<Slice> Strategy::slices() const {
  return whole_slices(model_.parameters());
}

void Strategy::split(const std::vector<at::Tensor>& whole, const std::vector<at::Tensor>& parts) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is_same(whole[i])) parts[i].copy_(whole[i]);
  }
}

HeldBytes Strategy::held() const {
  HeldBytes held;
  for (const NamedTensor& parameter : model_.parameters()) {
    held.parameters += static_cast<std::int64_t>(parameter.tensor.nbytes());
    const at::Tensor& gradient = parameter.tensor.grad();
    if (gradient.defined()) held.gradients += static_cast<std::int64_t>(gradient.nbytes());
  }
  return held;
}

}  // namespace falcon
