// Torch's own random numbers, which dropout draws from.
#pragma once
#include <cstdint>

#include <ATen/core/Tensor.h>

namespace falcon::train {

/// Makes the device's default generator start where it starts for this step on this rank: what a
/// step draws is then a function of these, also in a run that goes on from a checkpoint.
void seed_step(at::Device device, std::int64_t seed, int rank, std::int64_t step);

}  // namespace falcon::train
