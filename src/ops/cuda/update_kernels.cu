#include <type_traits>

#include "ops/cuda/tensor_blocks.cuh"
#include "ops/cuda/update_kernels.h"
#include "ops/cuda/vectors.cuh"

namespace falcon::ops::cuda {
namespace {

constexpr int kThreads = 512;

/// Read and written as one.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T items[4];
};

/// In place of the type of copies that are not kept.
struct NoCopy {};

template <class T>
__device__ bool is_aligned(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Four<T>) == 0;
}

template <bool kHasVelocity>
struct Momentum {
  static constexpr int kStates = kHasVelocity ? 1 : 0;
  using Given = MomentumRates;

  float lr, momentum, inverse_scale, weight_decay;
  bool nesterov;

  __device__ explicit Momentum(const Given& given)
      : lr(*given.lr),
        momentum(given.varying_momentum != nullptr ? *given.varying_momentum : given.momentum),
        inverse_scale(given.grad_scale != nullptr ? 1 / *given.grad_scale : 1.0F),
        weight_decay(given.weight_decay),
        nesterov(given.nesterov) {}

  __device__ void update(float& p, float gradient, float* state) const {
    const float g = gradient * inverse_scale + weight_decay * p;
    if constexpr (kHasVelocity) {
      state[0] = momentum * state[0] + g;
      p -= lr * (nesterov ? g + momentum * state[0] : state[0]);
    } else {
      p -= lr * g;
    }
  }
};

struct AdamW {
  static constexpr int kStates = 2;
  using Given = AdamWRates;

  float beta1, beta2, eps, inverse_scale, kept, step_size, inverse_root_bias;

  /// For all threads of the block: powers in double precision take long.
  __device__ explicit AdamW(const Given& given)
      : beta1(static_cast<float>(given.beta1)),
        beta2(static_cast<float>(given.beta2)),
        eps(given.eps),
        inverse_scale(given.grad_scale != nullptr ? 1 / *given.grad_scale : 1.0F) {
    __shared__ float shared[2];
    if (threadIdx.x == 0) {
      const double count = *given.count;
      shared[0] = static_cast<float>(1 / (1 - pow(given.beta1, count)));
      shared[1] = static_cast<float>(1 / sqrt(1 - pow(given.beta2, count)));
    }
    __syncthreads();
    kept = 1 - *given.lr * given.weight_decay;
    step_size = *given.lr * shared[0];
    inverse_root_bias = shared[1];
  }

  __device__ void update(float& p, float gradient, float* state) const {
    const float g = gradient * inverse_scale;
    state[0] = beta1 * state[0] + (1 - beta1) * g;
    state[1] = beta2 * state[1] + (1 - beta2) * g * g;
    p = p * kept - step_size * state[0] / (sqrtf(state[1]) * inverse_root_bias + eps);
  }
};

/// What a block of threads works on.
template <class G, class C>
struct Part {
  float* value;
  const G* gradient;
  float* state[UpdateTensors::kMaxStates];
  C* copy;
  int count;
};

template <class G, class C, int kStates>
__device__ Part<G, C> part_of(const UpdateTensors& tensors, int block) {
  const TensorBlock place = tensor_block(tensors, block);
  Part<G, C> part;
  part.value = tensors.value[place.tensor] + place.begin;
  part.gradient = static_cast<const G*>(tensors.gradient[place.tensor]) + place.begin;
  for (int s = 0; s < kStates; ++s) part.state[s] = tensors.state[s][place.tensor] + place.begin;
  part.copy = static_cast<C*>(tensors.copy[place.tensor]) + place.begin;
  part.count = place.count;
  return part;
}

template <class G, class C, int kStates>
__device__ bool is_aligned(const Part<G, C>& part) {
  bool aligned = is_aligned(part.value) && is_aligned(part.gradient);
  for (int s = 0; s < kStates; ++s) aligned = aligned && is_aligned(part.state[s]);
  if constexpr (!std::is_same_v<C, NoCopy>) aligned = aligned && is_aligned(part.copy);
  return aligned;
}

template <class Rule, class G, class C>
__device__ void update_four(const Part<G, C>& part, int i, const Rule& rule) {
  const auto gradient = reinterpret_cast<const Four<G>*>(part.gradient)[i];
  auto value = reinterpret_cast<Four<float>*>(part.value)[i];
  Four<float> state[Rule::kStates + 1];
#pragma unroll
  for (int s = 0; s < Rule::kStates; ++s) {
    state[s] = reinterpret_cast<Four<float>*>(part.state[s])[i];
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float own[Rule::kStates + 1];
#pragma unroll
    for (int s = 0; s < Rule::kStates; ++s) own[s] = state[s].items[k];
    rule.update(value.items[k], widen(gradient.items[k]), own);
#pragma unroll
    for (int s = 0; s < Rule::kStates; ++s) state[s].items[k] = own[s];
  }
  reinterpret_cast<Four<float>*>(part.value)[i] = value;
#pragma unroll
  for (int s = 0; s < Rule::kStates; ++s) {
    reinterpret_cast<Four<float>*>(part.state[s])[i] = state[s];
  }
  if constexpr (!std::is_same_v<C, NoCopy>) {
    Four<C> copy;
#pragma unroll
    for (int k = 0; k < 4; ++k) narrow(value.items[k], copy.items[k]);
    reinterpret_cast<Four<C>*>(part.copy)[i] = copy;
  }
}

template <class Rule, class G, class C>
__device__ void update_one(const Part<G, C>& part, int i, const Rule& rule) {
  float own[Rule::kStates + 1];
  for (int s = 0; s < Rule::kStates; ++s) own[s] = part.state[s][i];
  float value = part.value[i];
  rule.update(value, widen(part.gradient[i]), own);
  part.value[i] = value;
  for (int s = 0; s < Rule::kStates; ++s) part.state[s][i] = own[s];
  if constexpr (!std::is_same_v<C, NoCopy>) narrow(value, part.copy[i]);
}

template <class Rule, class G, class C>
__global__ void __launch_bounds__(kThreads)
    update_kernel(const UpdateTensors tensors, const typename Rule::Given given) {
  if (given.found_inf != nullptr && *given.found_inf != 0) return;
  const Rule rule(given);
  const Part<G, C> part = part_of<G, C, Rule::kStates>(tensors, static_cast<int>(blockIdx.x));
  const int vectors = is_aligned<G, C, Rule::kStates>(part) ? part.count / 4 : 0;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += kThreads) {
    update_four(part, i, rule);
  }
  for (int i = 4 * vectors + static_cast<int>(threadIdx.x); i < part.count; i += kThreads) {
    update_one(part, i, rule);
  }
}

template <class Rule>
void launch(const UpdateTensors& tensors, const UpdateTypes& types,
            const typename Rule::Given& given, CUstream_st* stream) {
  const int blocks = tensors.first_block[tensors.count];
  if (blocks == 0) return;
  const auto run = [&]<class G, class C>() {
    update_kernel<Rule, G, C><<<blocks, kThreads, 0, stream>>>(tensors, given);
  };
  const bool has_wide_gradients = types.gradient == Element::kFloat;
  switch (types.copy) {
    case Element::kFloat:
      return run.template operator()<float, NoCopy>();
    case Element::kHalf:
      return has_wide_gradients ? run.template operator()<float, __half>()
                                : run.template operator()<__half, __half>();
    case Element::kBfloat16:
      return has_wide_gradients ? run.template operator()<float, __nv_bfloat16>()
                                : run.template operator()<__nv_bfloat16, __nv_bfloat16>();
  }
}

}  // namespace

void momentum_update(const UpdateTensors& tensors, const UpdateTypes& types,
                     const MomentumRates& rates, CUstream_st* stream) {
  rates.has_velocity ? launch<Momentum<true>>(tensors, types, rates, stream)
                     : launch<Momentum<false>>(tensors, types, rates, stream);
}

void adamw_update(const UpdateTensors& tensors, const UpdateTypes& types, const AdamWRates& rates,
                  CUstream_st* stream) {
  launch<AdamW>(tensors, types, rates, stream);
}

}  // namespace falcon::ops::cuda
