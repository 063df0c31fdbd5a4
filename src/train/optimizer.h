// How the weights are updated, in fused kernels over all parameters, steered from the device:
// learning rates, momentum, loss scale and the decision to skip are tensors, so a step never waits
// for the host. A new one is a new file and a row in train/catalog.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/model.h>
#include <falconbench/run_spec.h>

#include "train/precision.h"
#include "train/schedule.h"

namespace falcon::train {

/// What the reference recipes tell apart: a name that ends in "bias", another 1-D tensor (the
/// weight of a normalisation), all others.
enum class ParameterKind { kBias, kNormWeight, kWeight };
ParameterKind kind_of(const NamedTensor& parameter);

/// Scalars on the device, of one step: float32 on a GPU, float64 on the CPU.
struct StepRates {
  at::Tensor lr;
  at::Tensor bias_lr;
  at::Tensor momentum;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Every parameter without a gradient, so that the backward pass stores instead of adding.
  void drop_gradients();
  /// One update with the gradients of all parameters, divided by the loss scale and clipped to
  /// clip_norm over all of them; with a scaler also its check() and update(). Afterwards the
  /// gradients hold unspecified values.
  void step(const StepRates& rates, LossScaler* scaler);
  /// What a checkpoint must hold beside the weights, the optimizer's own tensors (writing to them
  /// changes it): <what>.<parameter's name>, in the order of the parameters.
  virtual std::vector<NamedTensor> state() const = 0;

 protected:
  /// Parameters that take the same rates and decay.
  struct Group {
    bool takes_bias_lr = false;
    double weight_decay = 0;
    std::vector<std::size_t> indices;  // places in parameters()
    std::vector<at::Tensor> parameters;
    std::vector<at::Tensor> gradients;  // of this step
  };
  /// Of one step; scale: what the gradients are to be divided by.
  struct Update {
    StepRates rates;
    std::optional<at::Tensor> scale;
    std::optional<at::Tensor> found_inf;
  };

  /// parameters: leaves of one floating type on one device. Groups are made by decay and, where the
  /// schedule gives the biases rates of their own, by rate.
  Optimizer(std::vector<NamedTensor> parameters, const OptimizerSpec& options,
            const RateRows& rows);
  /// Called once a step before update(); nothing may change when found_inf is not 0.
  virtual void begin(const Update&) {}
  virtual void update(const Update& update, std::size_t group, const at::Tensor& lr) = 0;

  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::vector<Group>& groups() const { return groups_; }
  /// A tensor of zeros beside each parameter of each group, with its strides: the kernels walk
  /// memory.
  std::vector<std::vector<at::Tensor>> zeros_by_group() const;
  /// tensors[group][i] under its parameter's name after `what` and a dot.
  std::vector<NamedTensor> named(const std::string& what,
                                 const std::vector<std::vector<at::Tensor>>& tensors) const;

 private:
  std::optional<at::Tensor> clip(const std::vector<at::Tensor>& gradients, LossScaler* scaler);

  std::vector<NamedTensor> parameters_;
  std::vector<Group> groups_;
  std::optional<double> clip_norm_;
};

}  // namespace falcon::train
