// What a step counts and tells: steps and updates done, the learning rate that follows the updates,
// loss, loss scale. All of it lives on the training device; the host reads a ring that the device
// writes, after the step has ended.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "ops/step_counters.h"
#include "train/host_memory.h"
#include "train/precision.h"

namespace falcon::train {

class StepReporter {
 public:
  static constexpr std::int64_t kRing = 32;  // steps whose report can still be read

  /// rates: by epoch of updates_per_epoch updates; the last one holds for ever.
  StepReporter(at::Device device, const std::vector<double>& rates, std::int64_t updates_per_epoch);

  /// Learning rate of the step to come: a scalar on the device, float32 on a GPU, float64 on the
  /// CPU.
  const at::Tensor& lr() const { return lr_; }
  /// Ends a step: enqueued on the current stream, no synchronisation. loss: scalar; float32 on a
  /// GPU. scaler: nullptr without loss scaling.
  void advance(const at::Tensor& loss, const LossScaler* scaler);
  /// Of step `step`, counted from 1. REQUIRES: it has ended, and fewer than kRing after it have
  /// begun.
  const ops::StepReport& report(std::int64_t step) const;
  /// The last completed step, in host memory; written by the step itself.
  const std::int64_t* progress() const;

 private:
  void advance_on_host(const at::Tensor& loss, const LossScaler* scaler);
  void advance_on_device(const at::Tensor& loss, const LossScaler* scaler);

  at::Device device_;
  at::Tensor counters_;  // bytes of one ops::StepCounters
  at::Tensor rates_;     // float64
  at::Tensor lr_;
  ops::RateTable table_;
  HostBlock host_;  // the ring, then the progress
};

}  // namespace falcon::train
