#include "parity/plain_optimizer.h"

#include <algorithm>
#include <cmath>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

namespace falcon::test {
namespace {

enum Group { kBiases, kWeights, kNormWeights };

Group group_of(const NamedTensor& parameter) {
  if (parameter.name.ends_with("bias")) return kBiases;
  return parameter.tensor.dim() == 1 ? kNormWeights : kWeights;
}

}  // namespace

PlainOptimizer::Update PlainOptimizer::update_of(const NamedTensor& parameter,
                                                 std::size_t step_index, double clip) const {
  const Group group = group_of(parameter);
  const bool spares = is_adamw() || options_.contains("groups");
  const Json& lr = options_.at("lr").at(step_index);
  Update update;
  update.parameter = parameter.tensor;
  update.gradient = parameter.tensor.grad();
  if (clip < 1) update.gradient.mul_(clip);
  update.lr = (lr.is_array() ? lr.at(group) : lr).get<double>();
  if (!spares || group == kWeights) update.decay = options_.at("weight_decay");
  if (options_.contains("momentum_steps")) {
    update.momentum = options_["momentum_steps"].at(step_index);
  } else if (options_.contains("momentum")) {
    update.momentum = options_["momentum"];
  }
  return update;
}

void PlainOptimizer::step(const Model& model, std::size_t step_index, double gradient_norm) {
  const at::NoGradGuard no_grad;
  const double limit = options_.value("clip_grad_norm", INFINITY);
  const double clip = std::min(1.0, limit / (gradient_norm + 1e-6));
  ++count_;
  std::size_t i = 0;
  for (const NamedTensor& parameter : model.parameters()) {
    const Update update = update_of(parameter, step_index, clip);
    is_adamw() ? adamw(update, i) : sgd(update, i);
    ++i;
  }
}

/// g += decay * p; v = momentum * v + (1 - dampening) * g, at first v = g; p -= lr * v, or with
/// Nesterov lr * (g + momentum * v).
void PlainOptimizer::sgd(const Update& update, std::size_t i) {
  const at::Tensor gradient = update.gradient.add(update.parameter, update.decay);
  if (count_ == 1) {
    first_.push_back(gradient.clone());
  } else {
    first_[i].mul_(update.momentum).add_(gradient, 1 - options_.at("dampening").get<double>());
  }
  const at::Tensor change =
      options_.at("nesterov").get<bool>() ? gradient.add(first_[i], update.momentum) : first_[i];
  update.parameter.sub_(change, update.lr);
}

/// p *= 1 - lr * decay; m and v are the running means of g and g^2; p -= lr * m' / (sqrt(v') +
/// eps), m' = m / (1 - beta1^t), v' = v / (1 - beta2^t).
void PlainOptimizer::adamw(const Update& update, std::size_t i) {
  const double beta1 = options_.at("betas").at(0);
  const double beta2 = options_.at("betas").at(1);
  if (count_ == 1) {
    first_.push_back(at::zeros_like(update.gradient));
    second_.push_back(at::zeros_like(update.gradient));
  }
  first_[i].mul_(beta1).add_(update.gradient, 1 - beta1);
  second_[i].mul_(beta2).addcmul_(update.gradient, update.gradient, 1 - beta2);
  update.parameter.mul_(1 - update.lr * update.decay);
  const at::Tensor root =
      second_[i].div(1 - std::pow(beta2, count_)).sqrt_().add_(options_.at("eps").get<double>());
  update.parameter.addcdiv_(first_[i], root, -update.lr / (1 - std::pow(beta1, count_)));
}

Average::Average(const Model& model) {
  for (const NamedTensor& entry : model.state()) {
    if (entry.tensor.is_floating_point()) {
      entries_.push_back({entry.name, entry.tensor.detach().clone()});
    }
  }
}

void Average::update(const Model& model) {
  const double decay = 0.9999 * (1 - std::exp(-++updates_ / 2000));
  std::size_t i = 0;
  for (const NamedTensor& entry : model.state()) {
    if (entry.tensor.is_floating_point()) {
      entries_[i++].tensor.mul_(decay).add_(entry.tensor.detach(), 1 - decay);
    }
  }
}

}  // namespace falcon::test
