// Stochastic gradient descent with momentum.
#pragma once
#include <memory>

#include "train/optimizer.h"

namespace falcon::train {

/// g = gradient + weight_decay * p
/// v = momentum * v + g, v = 0 at the start
/// p = p - lr * (nesterov ? g + momentum * v : v)          (torch.optim.SGD without dampening)
/// momentum is that of the step's row where the schedule changes it. State: momentum.<parameter>.
/// REQUIRES: resolved options.
std::unique_ptr<Optimizer> make_sgd(std::vector<Slice> slices, const at::TensorOptions& type,
                                    const OptimizerSpec& options, const RateRows& rows);

}  // namespace falcon::train
