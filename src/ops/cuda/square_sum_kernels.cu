#include "ops/cuda/square_sum_kernels.h"
#include "ops/cuda/tensor_blocks.cuh"
#include "ops/cuda/vectors.cuh"

namespace falcon::ops::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kWarp = 32;

__device__ float block_sum(float x) {
  __shared__ float parts[kThreads / kWarp];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
  if (lane == 0) parts[threadIdx.x / kWarp] = x;
  __syncthreads();
  float sum = 0;
  if (threadIdx.x == 0) {
    for (const float part : parts) sum += part;
  }
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    square_sum_kernel(const SquaredTensors tensors, float* sums) {
  const int block = static_cast<int>(blockIdx.x);
  const TensorBlock place = tensor_block(tensors, block);
  const int count = place.count;
  const T* x = static_cast<const T*>(tensors.tensor[place.tensor]) + place.begin;
  constexpr int kSize = VectorOf<T>::kSize;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(x) % sizeof(uint4) == 0;
  const int vectors = is_aligned ? count / kSize : 0;
  float sum = 0;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += kThreads) {
    const VectorOf<T> values = unpack<T>(fetch(x + i * kSize));
#pragma unroll
    for (int k = 0; k < kSize; ++k) sum += values.v[k] * values.v[k];
  }
  for (int i = kSize * vectors + static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    const float value = widen(x[i]);
    sum += value * value;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[block] = sum;
}

}  // namespace

void square_sums(const SquaredTensors& tensors, Element element, float* sums, CUstream_st* stream) {
  const int blocks = tensors.blocks();
  if (blocks == 0) return;
  switch (element) {
    case Element::kFloat:
      return square_sum_kernel<float><<<blocks, kThreads, 0, stream>>>(tensors, sums);
    case Element::kHalf:
      return square_sum_kernel<__half><<<blocks, kThreads, 0, stream>>>(tensors, sums);
    case Element::kBfloat16:
      return square_sum_kernel<__nv_bfloat16><<<blocks, kThreads, 0, stream>>>(tensors, sums);
  }
}

}  // namespace falcon::ops::cuda
