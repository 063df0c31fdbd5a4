#include "train/optimizer.h"

#include <algorithm>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/reciprocal.h>

#include "ops/square_sum.h"

namespace falcon::train {

ParameterKind kind_of(const NamedTensor& parameter) {
  if (parameter.name.ends_with("bias")) return ParameterKind::kBias;
  return parameter.tensor.dim() == 1 ? ParameterKind::kNormWeight : ParameterKind::kWeight;
}

Optimizer::Optimizer(std::vector<Slice> slices, const at::TensorOptions& type,
                     const OptimizerSpec& options, const RateRows& rows)
    : slices_(std::move(slices)), type_(type), clip_norm_(options.clip_norm) {
  const bool decays_all = options.decay.value_or("") != kDecayWeightsOnly;
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    const ParameterKind kind = kind_of(slices_[i].parameter);
    const bool takes_bias_lr = kind == ParameterKind::kBias && rows.biases_differ();
    const bool decays = decays_all || kind == ParameterKind::kWeight;
    const double decay = decays ? options.weight_decay.value_or(0) : 0;
    Group& group = group_of(slices_[i], decay, takes_bias_lr);
    group.indices.push_back(i);
    group.values.push_back(slices_[i].values);
    if (slices_[i].copy.defined()) group.copies.push_back(slices_[i].copy);
  }
}

/// The group that this one belongs to, made where there is none yet.
Optimizer::Group& Optimizer::group_of(const Slice& slice, double weight_decay, bool takes_bias_lr) {
  const at::Tensor& like = slice.gradient.defined() ? slice.gradient : slice.parameter.tensor;
  const at::ScalarType type = like.scalar_type();
  const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
    return g.takes_bias_lr == takes_bias_lr && g.weight_decay == weight_decay &&
           g.gradient_type == type && g.copies.empty() != slice.copy.defined();
  });
  if (group != groups_.end()) return *group;
  Group& added = groups_.emplace_back();
  added.takes_bias_lr = takes_bias_lr;
  added.weight_decay = weight_decay;
  added.gradient_type = type;
  return added;
}

/// Of the gradients of all slices, on all ranks.
at::Tensor Optimizer::square_sum() const {
  std::vector<at::TensorList> gradients;
  for (const Group& group : groups_) gradients.emplace_back(group.gradients);
  at::Tensor squares = ops::square_sum(gradients, type_);
  if (sum_over_ranks_) sum_over_ranks_(squares);
  return squares;
}

/// What the gradients are to be divided by so that their norm is at most clip_norm, as
/// torch.nn.utils.clip_grad_norm_ clips after the division by the loss scale. Also the scaler's
/// check().
std::optional<at::Tensor> Optimizer::clip(LossScaler* scaler) {
  constexpr double kTiny = 1e-6;  // clip_grad_norm_'s own
  if (scaler == nullptr && !clip_norm_) return {};
  const at::Tensor squares = square_sum();
  std::optional<at::Tensor> scale;
  if (scaler != nullptr) {
    scaler->check(squares);
    scale = scaler->scale();
  }
  if (!clip_norm_) return scale;
  at::Tensor norm = squares.sqrt();
  if (scale) norm = norm.div(*scale);
  const at::Tensor excess = norm.add_(kTiny).div_(*clip_norm_).clamp_min_(1.0);
  if (excess.scalar_type() == at::kFloat) return scale ? excess.mul(*scale) : excess;
  // the fused kernels take a float32 divisor only, which would spoil gradients of another type
  for (const Group& group : groups_) at::_foreach_mul_(group.gradients, at::reciprocal(excess));
  return scale;
}

void Optimizer::step(const StepRates& rates, LossScaler* scaler) {
  const at::NoGradGuard no_grad;
  for (Group& group : groups_) {
    group.gradients.clear();
    for (const std::size_t i : group.indices) {
      const Slice& slice = slices_[i];
      group.gradients.push_back(slice.gradient.defined() ? slice.gradient
                                                         : slice.parameter.tensor.grad());
    }
  }
  Update update{rates, {}, {}};
  update.scale = clip(scaler);
  if (scaler != nullptr) update.found_inf = scaler->found_inf();
  begin(update);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    this->update(update, i, groups_[i].takes_bias_lr ? rates.bias_lr : rates.lr);
  }
  if (scaler != nullptr) scaler->update();
  for (Group& group : groups_) group.gradients.clear();
}

std::vector<std::vector<at::Tensor>> Optimizer::zeros_by_group() const {
  std::vector<std::vector<at::Tensor>> zeros;
  for (const Group& group : groups_) {
    zeros.emplace_back();
    for (const at::Tensor& p : group.values) {
      zeros.back().push_back(
          at::empty_strided(p.sizes(), p.strides(), p.options().requires_grad(false)).zero_());
    }
  }
  return zeros;
}

SlicedState Optimizer::sliced(const std::string& name,
                              const std::vector<std::vector<at::Tensor>>& tensors) const {
  SlicedState state{name, std::vector<at::Tensor>(slices_.size())};
  for (std::size_t g = 0; g < tensors.size(); ++g) {
    for (std::size_t i = 0; i < tensors[g].size(); ++i) {
      state.parts[groups_[g].indices[i]] = tensors[g][i];
    }
  }
  return state;
}

}  // namespace falcon::train
