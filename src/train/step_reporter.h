// What a step counts and tells: steps and updates done, the rates that follow the updates, loss,
// loss scale. All of it lives on the training device; the host reads a ring that the device
// writes, after the step has ended.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "ops/step_counters.h"
#include "train/host_memory.h"
#include "train/optimizer.h"
#include "train/precision.h"
#include "train/schedule.h"

namespace falcon::train {

class StepReporter {
 public:
  static constexpr std::int64_t kRing = 32;  // steps whose report can still be read

  /// REQUIRES: a row by epoch; an epoch has updates_per_epoch updates. first_update: those made
  /// before, which the schedule goes on from.
  StepReporter(at::Device device, const RateRows& rows, std::int64_t updates_per_epoch,
               std::int64_t first_update = 0);

  /// Of the step to come: the same tensors for ever, with new values after each advance().
  const StepRates& rates() const { return rates_; }
  /// Ends a step: enqueued on the current stream, no synchronisation. loss: scalar; float32 on a
  /// GPU. scaler: nullptr without loss scaling.
  void advance(const at::Tensor& loss, const LossScaler* scaler);
  /// Of step `step`, counted from 1. REQUIRES: it has ended, and fewer than kRing after it have
  /// begun.
  const ops::StepReport& report(std::int64_t step) const;
  /// In all, with those before the run. Waits for the device.
  std::int64_t updates() const;
  /// The last completed step, in host memory; written by the step itself.
  const std::int64_t* progress() const;

 private:
  void advance_on_host(const at::Tensor& loss, const LossScaler* scaler);
  void advance_on_device(const at::Tensor& loss, const LossScaler* scaler);

  at::Device device_;
  at::Tensor counters_;  // bytes of one ops::StepCounters
  at::Tensor rows_;      // float64 [rows, 3], the table's
  at::Tensor row_;       // [3]: lr, bias_lr, momentum of the step to come
  StepRates rates_;      // views of row_
  ops::RateTable table_;
  HostBlock host_;  // the ring, then the progress
};

}  // namespace falcon::train
