// The kernels of ops/parameter_update.h, as raw pointers.
#pragma once
#include <cstdint>

#include "ops/cuda/element.h"

struct CUstream_st;

namespace falcon::ops::cuda {

/// Up to kMax tensors for one launch, cut into blocks of kBlock elements. Gradients and copies of
/// one type each; an update uses the first of the states, both, or none.
struct UpdateTensors {
  static constexpr int kMax = 64;  // the struct is a kernel argument: below 4 KB
  static constexpr int kMaxStates = 2;
  static constexpr std::int64_t kBlock = 1 << 14;

  float* value[kMax];
  const void* gradient[kMax];
  float* state[kMaxStates][kMax];
  void* copy[kMax];
  std::int64_t size[kMax];
  int first_block[kMax + 1] = {};  // of each tensor, and the end
  int count = 0;

  /// The next of them, whose pointers the caller sets.
  int add(std::int64_t elements) {
    size[count] = elements;
    first_block[count + 1] =
        first_block[count] + static_cast<int>((elements + kBlock - 1) / kBlock);
    return count++;
  }
};

/// Copies are of the gradients' type, or of a 16-bit one beside float32 gradients.
struct UpdateTypes {
  Element gradient = Element::kFloat;
  Element copy = Element::kFloat;  // kFloat: there are none
};

/// Pointers are to the device.
struct MomentumRates {
  const float* lr = nullptr;
  const float* varying_momentum = nullptr;  // or nullptr: momentum
  const float* grad_scale = nullptr;        // or nullptr
  const float* found_inf = nullptr;         // or nullptr
  float momentum = 0;
  float weight_decay = 0;
  bool nesterov = false;
  bool has_velocity = false;  // state[0]; else momentum is 0
};

struct AdamWRates {
  const float* lr = nullptr;
  const float* count = nullptr;       // updates, this one included
  const float* grad_scale = nullptr;  // or nullptr
  const float* found_inf = nullptr;   // or nullptr
  double beta1 = 0, beta2 = 0;
  float eps = 0;
  float weight_decay = 0;
};

void momentum_update(const UpdateTensors& tensors, const UpdateTypes& types,
                     const MomentumRates& rates, CUstream_st* stream);
/// state[0] and state[1]: the first and the second moment.
void adamw_update(const UpdateTensors& tensors, const UpdateTypes& types, const AdamWRates& rates,
                  CUstream_st* stream);

}  // namespace falcon::ops::cuda
