#include "train/precision.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>

namespace falcon::train {

AutocastGuard::AutocastGuard(at::DeviceType device, std::optional<at::ScalarType> type)
    : device_(device), active_(type.has_value()) {
  if (!active_) return;
  was_enabled_ = at::autocast::is_autocast_enabled(device);
  old_type_ = at::autocast::get_autocast_dtype(device);
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(device, true);
  at::autocast::set_autocast_dtype(device, *type);
}

AutocastGuard::~AutocastGuard() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, old_type_);
}

void set_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

LossScaler::LossScaler(at::Device device, const LossScalerOptions& options) : options_(options) {
  const auto floats = at::TensorOptions().device(device).dtype(at::kFloat);
  scale_ = at::full({}, options.init_scale, floats);
  growth_tracker_ = at::full({}, 0, floats.dtype(at::kInt));
  found_inf_ = at::full({}, 0, floats);
}

void LossScaler::check(const at::Tensor& square_sum) {
  found_inf_.copy_(square_sum.isfinite().logical_not_());
}

void LossScaler::update() {
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf_, options_.growth_factor,
                         options_.backoff_factor, options_.growth_interval);
}

}  // namespace falcon::train
