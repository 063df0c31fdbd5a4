// How the weights are updated, in fused kernels over all parameters, steered from the device:
// learning rates, momentum, loss scale and the decision to skip are tensors, so a step never waits
// for the host. A new one is a new file and a row in train/catalog.cpp.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/model.h>
#include <falconbench/run_spec.h>
#include <falconbench/strategy.h>

#include "ops/parameter_update.h"
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

/// What an optimizer keeps beside the slices, its own tensors: writing to them changes it.
struct SlicedState {
  std::string name;
  std::vector<at::Tensor> parts;  // one a slice
};

/// How ranks with different slices come to one norm, and so to one decision to skip: the sum over
/// all ranks. Collective, in place.
using SumOverRanks = std::function<void(const at::Tensor&)>;

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Ranks that update the same slices need none.
  void set_sum_over_ranks(SumOverRanks sum) { sum_over_ranks_ = std::move(sum); }
  /// One update with the gradients of all slices, divided by the loss scale and clipped to
  /// clip_norm over all of them; with a scaler also its check() and update(). Afterwards the
  /// gradients hold unspecified values.
  void step(const StepRates& rates, LossScaler* scaler);
  /// What a checkpoint must hold beside the weights: by slice, and as scalars.
  virtual std::vector<SlicedState> state() const = 0;
  virtual std::vector<NamedTensor> counts() const { return {}; }

 protected:
  /// Slices that take the same rates and decay, of the same types.
  struct Group {
    bool takes_bias_lr = false;
    double weight_decay = 0;
    at::ScalarType gradient_type = at::kFloat;
    std::vector<std::size_t> indices;  // places in slices()
    std::vector<at::Tensor> values;
    std::vector<at::Tensor> copies;     // beside all of them, or none
    std::vector<at::Tensor> gradients;  // of this step

    ops::UpdatedTensors tensors() const { return {values, gradients, copies}; }
  };
  /// Of one step; scale: what the gradients are to be divided by.
  struct Update {
    StepRates rates;
    std::optional<at::Tensor> scale;
    std::optional<at::Tensor> found_inf;
  };

  /// slices: of this floating type, on its device; there may be none. Groups are made by decay,
  /// types and, where the schedule gives the biases rates of their own, by rate.
  Optimizer(std::vector<Slice> slices, const at::TensorOptions& type, const OptimizerSpec& options,
            const RateRows& rows);
  /// Called once a step before update(); nothing may change when found_inf is not 0.
  virtual void begin(const Update&) {}
  virtual void update(const Update& update, std::size_t group, const at::Tensor& lr) = 0;

  const std::vector<Group>& groups() const { return groups_; }
  /// A tensor of zeros beside each slice of each group, with its strides: the kernels walk memory.
  std::vector<std::vector<at::Tensor>> zeros_by_group() const;
  /// tensors[group][i] in the order of the slices.
  SlicedState sliced(const std::string& name,
                     const std::vector<std::vector<at::Tensor>>& tensors) const;

 private:
  Group& group_of(const Slice& slice, double weight_decay, bool takes_bias_lr);
  at::Tensor square_sum() const;
  std::optional<at::Tensor> clip(LossScaler* scaler);

  std::vector<Slice> slices_;
  at::TensorOptions type_;
  std::vector<Group> groups_;
  std::optional<double> clip_norm_;
  SumOverRanks sum_over_ranks_;
};

}  // namespace falcon::train
