// The build without CUDA has no fused form.
#include "ops/fused_norm_act.h"

namespace falcon::ops {

bool has_fused_norm_act() {
  return false;
}

bool fused_norm_act_applies(const at::Tensor&, const NormTensors&, bool, const at::Tensor&) {
  return false;
}

at::Tensor fused_norm_act(const at::Tensor& x, const NormTensors& norm, Activation activation,
                          const at::Tensor& residual) {
  return norm_act(x, norm, true, activation, residual);
}

}  // namespace falcon::ops
