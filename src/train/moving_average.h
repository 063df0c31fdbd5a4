// The exponential moving average of a model's state that YOLOv5's recipe keeps for evaluation. All
// on the device of the model: an update is enqueued and waits for nothing.
#pragma once
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/model.h>

namespace falcon::train {

/// In update n, counted from 1: d = decay * (1 - exp(-n / 2000)), average = d * average + (1 - d) *
/// value, over every floating entry of the state.
class MovingAverage {
 public:
  /// Begins with the values that the state has now. model: on its device for good.
  MovingAverage(const Model& model, double decay);

  /// On the current stream.
  void update();
  /// What a checkpoint must hold: averages() and updates().
  std::vector<NamedTensor> state() const;
  /// Names as in the model's state.
  const std::vector<NamedTensor>& averages() const { return averages_; }
  /// Scalar on the device: how many there were.
  const at::Tensor& updates() const { return updates_; }

 private:
  double decay_;
  std::vector<at::Tensor> values_;  // the model's own
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
  /// average: nullptr changes nothing. Both must outlive it.
  AveragedModel(const Model& model, const MovingAverage* average);

 private:
  std::optional<KeptState> kept_;
};

}  // namespace falcon::train
