// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
#pragma once
#include <memory>

#include "train/optimizer.h"

namespace falcon::train {

/// p = p * (1 - lr * weight_decay)
/// m = beta1 * m + (1 - beta1) * g,  v = beta2 * v + (1 - beta2) * g^2,  both 0 at the start
/// p = p - lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)      (torch.optim.AdamW)
/// t counts updates, also those of learning rate 0; skipped steps are none. State: step,
/// exp_avg.<parameter>, exp_avg_sq.<parameter>. REQUIRES: resolved options.
std::unique_ptr<Optimizer> make_adamw(std::vector<Slice> slices, const at::TensorOptions& type,
                                      const OptimizerSpec& options, const RateRows& rows);

}  // namespace falcon::train
