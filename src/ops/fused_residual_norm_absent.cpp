// The build without CUDA has no fused form.
#include "ops/fused_residual_norm.h"

namespace falcon::ops {

bool has_fused_residual_norm() {
  return false;
}

bool fused_residual_norm_applies(const at::Tensor&, const LayerNormTensors&, const at::Tensor&) {
  return false;
}

at::Tensor fused_residual_norm(const at::Tensor& x, const LayerNormTensors& norm,
                               const at::Tensor& residual, double dropout) {
  return layer_norm(x, norm, residual, dropout, /*training=*/true);
}

}  // namespace falcon::ops
