// Reduced precision of a training step: the autocast scope, the TF32 switches, and loss scaling
// that never leaves the device.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/model.h>

namespace falcon::train {

/// While it lives, matrix products and convolutions of this thread run in `type` on this kind of
/// device; nullopt: nothing changes. The outermost guard forgets the cast weights at its end, or
/// the next step would use stale ones.
class AutocastGuard {
 public:
  AutocastGuard(at::DeviceType device, std::optional<at::ScalarType> type);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  at::DeviceType device_;
  bool active_;
  bool was_enabled_ = false;
  at::ScalarType old_type_ = at::kFloat;
};

/// For all float32 products and convolutions on GPUs of this process.
void set_tf32(bool allowed);

struct LossScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;
};

/// torch.amp.GradScaler without its host synchronisation. One step: backward with scale() as the
/// gradient of the loss; check(); an optimizer that divides by scale() and does nothing where
/// found_inf() is not 0; update().
class LossScaler {
 public:
  explicit LossScaler(at::Device device, const LossScalerOptions& options = {});

  const at::Tensor& scale() const { return scale_; }          // float32 scalar
  const at::Tensor& found_inf() const { return found_inf_; }  // float32 scalar: 0 or 1
  /// found_inf() becomes 1 when the sum of the squares of all gradients is an infinity or NaN, else
  /// 0. A sum over the ranks is the same on all of them: infinities spread.
  void check(const at::Tensor& square_sum);
  void update();
  /// What a checkpoint must hold of it; writing to the tensors changes it.
  std::vector<NamedTensor> state() const {
    return {{"scale", scale_}, {"steps_without_overflow", growth_tracker_}};
  }

 private:
  LossScalerOptions options_;
  at::Tensor scale_;
  at::Tensor growth_tracker_;  // int32 scalar: steps without overflow
  at::Tensor found_inf_;
};

}  // namespace falcon::train
