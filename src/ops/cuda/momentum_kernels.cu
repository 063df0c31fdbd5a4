#include "ops/cuda/momentum_kernels.h"

namespace falcon::ops::cuda {
namespace {

constexpr int kThreads = 512;

struct Rates {
  float lr, momentum, inverse_scale, weight_decay;
  bool nesterov;
};

__device__ void update_one(float& p, float gradient, float& v, const Rates& rates) {
  const float g = gradient * rates.inverse_scale + rates.weight_decay * p;
  v = rates.momentum * v + g;
  p -= rates.lr * (rates.nesterov ? g + rates.momentum * v : v);
}

__device__ bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(float4) == 0;
}

__global__ void __launch_bounds__(kThreads)
    momentum_kernel(const MomentumTensors tensors, const MomentumRates given) {
  if (given.found_inf != nullptr && *given.found_inf != 0) return;
  int low = 0;
  for (int high = tensors.count; high - low > 1;) {
    const int middle = (low + high) / 2;
    (static_cast<int>(blockIdx.x) < tensors.first_block[middle] ? high : low) = middle;
  }
  const std::int64_t begin =
      (static_cast<int>(blockIdx.x) - tensors.first_block[low]) * MomentumTensors::kBlock;
  const std::int64_t rest = tensors.size[low] - begin;
  const int count =
      static_cast<int>(rest < MomentumTensors::kBlock ? rest : MomentumTensors::kBlock);
  float* p = tensors.parameter[low] + begin;
  const float* g = tensors.gradient[low] + begin;
  float* v = tensors.velocity[low] + begin;
  const Rates rates{*given.lr, *given.momentum,
                    given.grad_scale != nullptr ? 1 / *given.grad_scale : 1.0F, given.weight_decay,
                    given.nesterov};
  const int vectors = is_aligned(p) && is_aligned(g) && is_aligned(v) ? count / 4 : 0;
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += kThreads) {
    float4 p4 = reinterpret_cast<float4*>(p)[i];
    const float4 g4 = reinterpret_cast<const float4*>(g)[i];
    float4 v4 = reinterpret_cast<float4*>(v)[i];
    update_one(p4.x, g4.x, v4.x, rates);
    update_one(p4.y, g4.y, v4.y, rates);
    update_one(p4.z, g4.z, v4.z, rates);
    update_one(p4.w, g4.w, v4.w, rates);
    reinterpret_cast<float4*>(p)[i] = p4;
    reinterpret_cast<float4*>(v)[i] = v4;
  }
  for (int i = 4 * vectors + static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    update_one(p[i], g[i], v[i], rates);
  }
}

}  // namespace

void momentum_update(const MomentumTensors& tensors, const MomentumRates& rates,
                     CUstream_st* stream) {
  const int blocks = tensors.first_block[tensors.count];
  if (blocks > 0) momentum_kernel<<<blocks, kThreads, 0, stream>>>(tensors, rates);
}

}  // namespace falcon::ops::cuda
