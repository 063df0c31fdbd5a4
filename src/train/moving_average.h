// The exponential moving average of a model's state that YOLOv5's recipe keeps for evaluation. All
// on the device of the model: an update is enqueued and waits for nothing.
#pragma once
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/model.h>

namespace falcon::train {

/// In update n, counted from 1: d = decay * (1 - exp(-n / 2000)), average = d * average + (1 - d) *
/// value.
class MovingAverage {
 public:
  /// Of the floating ones among these tensors, which stay where they are; begins with their values.
  MovingAverage(const std::vector<NamedTensor>& state, double decay);

  /// On the current stream.
  void update();
  /// Names as given.
  const std::vector<NamedTensor>& averages() const { return averages_; }
  /// Scalar on the device: how many there were.
  const at::Tensor& updates() const { return updates_; }

 private:
  double decay_;
  std::vector<at::Tensor> values_;  // those given
  std::vector<at::Tensor> sums_;    // the tensors of averages_
  std::vector<NamedTensor> averages_;
  at::Tensor updates_;
};

/// The floating values that a model has now; it has them again when this ends.
class KeptState {
 public:
  explicit KeptState(const Model& model);
  ~KeptState();
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

 private:
  std::vector<at::Tensor> values_;  // the model's own tensors
  std::vector<at::Tensor> copies_;  // of what they held
};

/// While it lives, the model holds the averages. For evaluation and for weights that are saved,
/// which the recipe takes from the average.
class AveragedModel {
 public:
  /// averages: of the model's floating state, by name; empty changes nothing. The model must
  /// outlive it.
  AveragedModel(const Model& model, const std::vector<NamedTensor>& averages);

 private:
  std::optional<KeptState> kept_;
};

}  // namespace falcon::train
