#include "train/moving_average.h"

#include <map>
#include <string_view>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sub.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/zeros.h>

namespace falcon::train {

namespace {

constexpr double kRampUpdates = 2000;

/// Without the step counts.
std::vector<NamedTensor> floating(const std::vector<NamedTensor>& state) {
  std::vector<NamedTensor> floating;
  for (const NamedTensor& entry : state) {
    if (entry.tensor.is_floating_point()) floating.push_back({entry.name, entry.tensor.detach()});
  }
  return floating;
}

}  // namespace

MovingAverage::MovingAverage(const std::vector<NamedTensor>& state, double decay) : decay_(decay) {
  for (const auto& [name, value] : floating(state)) {
    values_.push_back(value);
    // the kernels over all tensors at once walk memory: the strides are the values' own
    sums_.push_back(
        at::empty_strided(value.sizes(), value.strides(), value.options()).copy_(value));
    averages_.push_back({name, sums_.back()});
  }
  updates_ = at::zeros({}, values_.front().options());
}

void MovingAverage::update() {
  const at::NoGradGuard no_grad;
  updates_.add_(1);
  const at::Tensor keep = at::exp(updates_ * (-1 / kRampUpdates)).mul_(-decay_).add_(decay_);
  // value + d * (average - value), in place: a temporary of all weights would be as large as they
  // are
  at::_foreach_sub_(sums_, values_);
  at::_foreach_mul_(sums_, keep);
  at::_foreach_add_(sums_, values_);
}

KeptState::KeptState(const Model& model) {
  for (const NamedTensor& entry : floating(model.state())) {
    values_.push_back(entry.tensor);
    copies_.push_back(values_.back().clone());
  }
}

KeptState::~KeptState() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i].copy_(copies_[i]);
}

AveragedModel::AveragedModel(const Model& model, const std::vector<NamedTensor>& averages) {
  if (averages.empty()) return;
  kept_.emplace(model);
  const at::NoGradGuard no_grad;
  std::map<std::string_view, at::Tensor> by_name;
  for (const NamedTensor& average : averages) by_name[average.name] = average.tensor;
  for (const NamedTensor& entry : floating(model.state())) {
    entry.tensor.copy_(by_name.at(entry.name));
  }
}

}  // namespace falcon::train
