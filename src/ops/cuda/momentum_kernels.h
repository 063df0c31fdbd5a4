// The kernel of ops/momentum_update.h, as raw pointers.
#pragma once
#include <cstdint>

struct CUstream_st;

namespace falcon::ops::cuda {

/// Up to kMax tensors for one launch, cut into blocks of kBlock elements.
struct MomentumTensors {
  static constexpr int kMax = 96;  // the struct is a kernel argument: below 4 KB
  static constexpr std::int64_t kBlock = 1 << 14;

  float* parameter[kMax];
  const float* gradient[kMax];
  float* velocity[kMax];
  std::int64_t size[kMax];
  int first_block[kMax + 1] = {};  // of each tensor, and the end
  int count = 0;

  void add(float* p, const float* g, float* v, std::int64_t elements) {
    parameter[count] = p;
    gradient[count] = g;
    velocity[count] = v;
    size[count] = elements;
    first_block[count + 1] =
        first_block[count] + static_cast<int>((elements + kBlock - 1) / kBlock);
    ++count;
  }
};

struct MomentumRates {
  const float* lr = nullptr;
  const float* momentum = nullptr;
  const float* grad_scale = nullptr;  // or nullptr
  const float* found_inf = nullptr;   // or nullptr
  float weight_decay = 0;
  bool nesterov = false;
};

void momentum_update(const MomentumTensors& tensors, const MomentumRates& rates,
                     CUstream_st* stream);

}  // namespace falcon::ops::cuda
