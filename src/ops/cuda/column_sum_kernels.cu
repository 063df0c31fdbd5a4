#include "ops/cuda/column_sum_kernels.h"
#include "ops/cuda/vectors.cuh"

namespace falcon::ops::cuda {
namespace {

// A block has a strip of columns and all rows: no second kernel and no memory to clear, which for
// the few thousand rows of a batch is quicker than more blocks. What is summed was just written and
// comes from the L2 cache.
constexpr int kWarp = 32;
constexpr int kWarps = 32;
constexpr int kElements = 8;  // of a thread, in one load
constexpr int kLanes = 4;     // beside each other in a row
constexpr int kStrip = kLanes * kElements;
constexpr int kRowsOfWarp = kWarp / kLanes;
constexpr int kRows = kWarps * kRowsOfWarp;  // at once

template <class T, class S>
__global__ void __launch_bounds__(kWarps* kWarp) column_sum_kernel(ColumnSum job) {
  __shared__ float parts[kWarps][kStrip];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kStrip;
  const std::int64_t column = first + lane % kLanes * kElements;
  float sums[kElements] = {};
  if (column < job.width) {
    const T* x = static_cast<const T*>(job.x) + column;
#pragma unroll 4
    for (std::int64_t row = warp * kRowsOfWarp + lane / kLanes; row < job.rows; row += kRows) {
      const VectorOf<T> values = unpack<T>(fetch(x + row * job.width));
#pragma unroll
      for (int i = 0; i < kElements; ++i) sums[i] += values.v[i];
    }
  }
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
#pragma unroll
    for (int step = kLanes; step < kWarp; step *= 2) {
      sums[i] += __shfl_xor_sync(0xffffffffU, sums[i], step);
    }
    if (lane < kLanes) parts[warp][lane * kElements + i] = sums[i];
  }
  __syncthreads();
  if (warp != 0 || first + lane >= job.width) return;
  float sum = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) sum += parts[w][lane];
  narrow(sum, static_cast<S*>(job.sums)[first + lane]);
}

template <class T>
void launch(const ColumnSum& job, CUstream_st* stream) {
  const auto strips = static_cast<unsigned>((job.width + kStrip - 1) / kStrip);
  if (job.wide_sums) {
    column_sum_kernel<T, float><<<strips, kWarps * kWarp, 0, stream>>>(job);
  } else {
    column_sum_kernel<T, T><<<strips, kWarps * kWarp, 0, stream>>>(job);
  }
}

}  // namespace

bool column_sum_supported(std::int64_t width) {
  return width % kElements == 0;
}

void column_sum(const ColumnSum& job, Element element, CUstream_st* stream) {
  element == Element::kHalf ? launch<__half>(job, stream) : launch<__nv_bfloat16>(job, stream);
}

}  // namespace falcon::ops::cuda
