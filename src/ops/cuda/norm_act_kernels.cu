#include <algorithm>

#include "ops/cuda/norm_act_kernels.h"
#include "ops/cuda/vectors.cuh"

namespace falcon::ops::cuda {
namespace {

constexpr int kThreads = 256;    // of a block, at most
constexpr int kUnroll = 4;       // rows in flight for each thread, to cover the memory latency
constexpr int kMaxVectors = 16;  // of a tile: 256 contiguous bytes a row

// blockIdx.x is the tile of channels, blockIdx.y the split of the rows; a thread keeps its channels
// and walks the rows.
template <class T>
struct Place {
  int column;            // vector within the tile
  int lane;              // row within the block
  std::int64_t channel;  // first channel of the vector
  std::int64_t row;      // first row
  std::int64_t step;     // rows to the next one
};

template <class T>
__device__ inline Place<T> place(const NormGrid& grid) {
  Place<T> p;
  p.column = static_cast<int>(threadIdx.x) % grid.vectors;
  p.lane = static_cast<int>(threadIdx.x) / grid.vectors;
  p.channel =
      (static_cast<std::int64_t>(blockIdx.x) * grid.vectors + p.column) * VectorOf<T>::kSize;
  p.row = static_cast<std::int64_t>(blockIdx.y) * grid.lanes + p.lane;
  p.step = static_cast<std::int64_t>(grid.splits) * grid.lanes;
  return p;
}

// 1 / (1 + exp(-x)) by the fast exponential and division: a few units of float32, far below those
// of the 16-bit types. exp(-x) = infinity gives 0.
__device__ inline float sigmoid(float x) {
  return __fdividef(1.f, 1.f + __expf(-x));
}

// kSilu is a parameter of the kernels, not a branch in them: branches would keep the exponentials
// of neighbouring elements from overlapping.
template <bool kSilu>
__device__ inline float activate(float x, Act act) {
  if constexpr (kSilu) return x * sigmoid(x);
  if (act == Act::kNone) return x;
  x = fmaxf(x, 0.f);
  return act == Act::kRelu6 ? fminf(x, 6.f) : x;
}

// g times the derivative of the activation at the value before it (kRelu may be given the value
// after it: both are positive or not).
template <bool kSilu>
__device__ inline float through_activation(float g, float before, Act act) {
  if constexpr (kSilu) {
    const float s = sigmoid(before);
    return g * s * fmaf(before, 1.f - s, 1.f);
  }
  const bool passes = act == Act::kNone || (before > 0.f && (act == Act::kRelu || before < 6.f));
  return passes ? g : 0.f;
}

// Adds first and second of all threads of a column and, in the last block of the tile, of all
// blocks: totals of the tile's channels are then in shared[0 .. channels of tile) and shared[stride
// ..), and the function returns true.
template <int kSize>
__device__ bool sum_rows(const NormGrid& grid, std::int64_t channels, const float (&first)[kSize],
                         const float (&second)[kSize], float* scratch, unsigned* tickets,
                         float* shared) {
  const int width = grid.vectors * kSize;
  const int column = static_cast<int>(threadIdx.x) % grid.vectors,
            lane = static_cast<int>(threadIdx.x) / grid.vectors;
  float* second_half = shared + grid.lanes * width;
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    shared[lane * width + column * kSize + i] = first[i];
    second_half[lane * width + column * kSize + i] = second[i];
  }
  int active = grid.lanes;
  while (active > 1) {
    const int half = (active + 1) / 2;
    __syncthreads();
    for (int i = threadIdx.x; i < (active - half) * width; i += blockDim.x) {
      shared[i] += shared[i + half * width];
      second_half[i] += second_half[i + half * width];
    }
    active = half;
  }
  __syncthreads();
  const std::int64_t base = static_cast<std::int64_t>(blockIdx.x) * width;
  float* mine = scratch + static_cast<std::int64_t>(blockIdx.y) * 2 * channels + base;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    mine[i] = shared[i];
    mine[channels + i] = second_half[i];
  }
  __threadfence();
  __shared__ bool is_last;
  __syncthreads();
  // atomicInc wraps to zero at the last block, so the tickets are ready for the next pass
  if (threadIdx.x == 0) {
    is_last = atomicInc(&tickets[blockIdx.x], static_cast<unsigned>(grid.splits - 1)) ==
              static_cast<unsigned>(grid.splits - 1);
  }
  __syncthreads();
  if (!is_last) return false;
  __threadfence();
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float a = 0.f, b = 0.f;
    const float* from = scratch + base + i;
#pragma unroll 8
    for (int s = 0; s < grid.splits; ++s) {
      a += __ldcg(from + static_cast<std::int64_t>(s) * 2 * channels);
      b += __ldcg(from + static_cast<std::int64_t>(s) * 2 * channels + channels);
    }
    shared[i] = a;
    second_half[i] = b;
  }
  __syncthreads();
  return true;
}

// Sums of x - k and (x - k)^2 with k the first row's value: without a shift near the mean the
// variance would cancel.
template <class T>
__global__ void __launch_bounds__(kThreads) statistics(NormForward job, NormGrid grid) {
  constexpr int kSize = VectorOf<T>::kSize;
  extern __shared__ float shared[];
  const Place<T> p = place<T>(grid);
  const T* x = static_cast<const T*>(job.x) + p.channel;
  const uint4 first_row = fetch(x);
  const VectorOf<T> shift = unpack<T>(first_row);
  float sum[kSize] = {}, squares[kSize] = {};
  for (std::int64_t row = p.row; row < job.rows; row += kUnroll * p.step) {
    uint4 raw[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t r = row + u * p.step;
      raw[u] = r < job.rows ? fetch(x + r * job.channels) : first_row;
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const VectorOf<T> in = unpack<T>(raw[u]);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        const float d = in.v[i] - shift.v[i];
        sum[i] += d;
        squares[i] = fmaf(d, d, squares[i]);
      }
    }
  }
  if (!sum_rows<kSize>(grid, job.channels, sum, squares, job.scratch, job.tickets, shared)) return;
  const int width = grid.vectors * kSize;
  const std::int64_t base = static_cast<std::int64_t>(blockIdx.x) * width;
  const float count = static_cast<float>(job.rows);
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const std::int64_t c = base + i;
    const float mean_shifted = shared[i] / count;
    const float variance =
        fmaxf(shared[grid.lanes * width + i] / count - mean_shifted * mean_shifted, 0.f);
    const float mean = widen(static_cast<const T*>(job.x)[c]) + mean_shifted;
    job.mean[c] = mean;
    job.inverse_std[c] = rsqrtf(variance + job.eps);
    if (job.running_mean == nullptr) continue;
    job.running_mean[c] += job.momentum * (mean - job.running_mean[c]);
    const float unbiased = job.rows > 1 ? variance * (count / (count - 1.f)) : variance;
    job.running_var[c] += job.momentum * (unbiased - job.running_var[c]);
  }
}

template <class T, bool kResidual, bool kSilu>
__global__ void __launch_bounds__(kThreads) normalise(NormForward job, NormGrid grid) {
  constexpr int kSize = VectorOf<T>::kSize;
  const Place<T> p = place<T>(grid);
  float scale[kSize], offset[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    scale[i] = job.weight[p.channel + i] * job.inverse_std[p.channel + i];
    offset[i] = fmaf(-job.mean[p.channel + i], scale[i], job.bias[p.channel + i]);
  }
  const T* x = static_cast<const T*>(job.x) + p.channel;
  const T* residual = static_cast<const T*>(job.residual) + p.channel;
  T* y = static_cast<T*>(job.y) + p.channel;
  for (std::int64_t row = p.row; row < job.rows; row += kUnroll * p.step) {
    uint4 raw_x[kUnroll], raw_residual[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t r = row + u * p.step;
      if (r >= job.rows) continue;
      raw_x[u] = fetch(x + r * job.channels);
      if constexpr (kResidual) raw_residual[u] = fetch(residual + r * job.channels);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t r = row + u * p.step;
      if (r >= job.rows) continue;
      VectorOf<T> value = unpack<T>(raw_x[u]);
#pragma unroll
      for (int i = 0; i < kSize; ++i) value.v[i] = fmaf(value.v[i], scale[i], offset[i]);
      VectorOf<T> add = {};
      if constexpr (kResidual) add = unpack<T>(raw_residual[u]);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        const float before = kResidual && !kSilu ? value.v[i] + add.v[i] : value.v[i];
        const float after = activate<kSilu>(before, job.act);
        value.v[i] = kResidual && kSilu ? after + add.v[i] : after;
      }
      store(y + r * job.channels, value);
    }
  }
}

// Per channel: sum of g and of g * (x - mean) * inverse_std, where g is dy times the activation's
// derivative. Those are the gradients of bias and weight. With a residual g is also its gradient,
// and is written.
template <class T, bool kResidual, bool kSilu>
__global__ void __launch_bounds__(kThreads) gradient_sums(NormBackward job, NormGrid grid) {
  constexpr int kSize = VectorOf<T>::kSize;
  extern __shared__ float shared[];
  const Place<T> p = place<T>(grid);
  float mean[kSize], scale[kSize], offset[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    mean[i] = job.mean[p.channel + i];
    scale[i] = job.weight[p.channel + i] * job.inverse_std[p.channel + i];
    offset[i] = fmaf(-mean[i], scale[i], job.bias[p.channel + i]);
  }
  const T* dy = static_cast<const T*>(job.dy) + p.channel;
  const T* x = static_cast<const T*>(job.x) + p.channel;
  const T* y = static_cast<const T*>(job.y) + p.channel;
  T* dresidual = static_cast<T*>(job.dresidual) + p.channel;
  float sum[kSize] = {}, product[kSize] = {};
  for (std::int64_t row = p.row; row < job.rows; row += kUnroll * p.step) {
    uint4 raw_g[kUnroll], raw_x[kUnroll], raw_y[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t r = row + u * p.step;
      if (r >= job.rows) continue;
      raw_g[u] = fetch(dy + r * job.channels);
      raw_x[u] = fetch(x + r * job.channels);
      if constexpr (kResidual) raw_y[u] = fetch(y + r * job.channels);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t r = row + u * p.step;
      if (r >= job.rows) continue;
      VectorOf<T> g = unpack<T>(raw_g[u]);
      const VectorOf<T> in = unpack<T>(raw_x[u]);
      const VectorOf<T> out = unpack<T>(kResidual ? raw_y[u] : raw_x[u]);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        const float before = kResidual ? out.v[i] : fmaf(in.v[i], scale[i], offset[i]);
        g.v[i] = through_activation<kSilu>(g.v[i], before, job.act);
        sum[i] += g.v[i];
        product[i] = fmaf(g.v[i], in.v[i] - mean[i], product[i]);
      }
      if constexpr (kResidual) store(dresidual + r * job.channels, g);
    }
  }
  if (!sum_rows<kSize>(grid, job.channels, sum, product, job.scratch, job.tickets, shared)) return;
  const int width = grid.vectors * kSize;
  const std::int64_t base = static_cast<std::int64_t>(blockIdx.x) * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    job.dbias[base + i] = shared[i];
    job.dweight[base + i] = shared[grid.lanes * width + i] * job.inverse_std[base + i];
  }
}

// dx = weight * inverse_std * (g - mean(g) - x_hat * mean(g * x_hat)), Ioffe and Szegedy 2015, as a
// * g + b * x + c.
template <class T, bool kResidual, bool kSilu>
__global__ void __launch_bounds__(kThreads) gradient_of_x(NormBackward job, NormGrid grid) {
  constexpr int kSize = VectorOf<T>::kSize;
  const Place<T> p = place<T>(grid);
  const float per_row = 1.f / static_cast<float>(job.rows);
  float scale[kSize], offset[kSize], b[kSize], c[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const std::int64_t k = p.channel + i;
    const float mean = job.mean[k], inverse_std = job.inverse_std[k];
    scale[i] = job.weight[k] * inverse_std;
    offset[i] = fmaf(-mean, scale[i], job.bias[k]);
    b[i] = -scale[i] * inverse_std * job.dweight[k] * per_row;
    c[i] = -scale[i] * job.dbias[k] * per_row - b[i] * mean;
  }
  const T* from = static_cast<const T*>(kResidual ? job.dresidual : job.dy) + p.channel;
  const T* x = static_cast<const T*>(job.x) + p.channel;
  T* dx = static_cast<T*>(job.dx) + p.channel;
  for (std::int64_t row = p.row; row < job.rows; row += kUnroll * p.step) {
    uint4 raw_g[kUnroll], raw_x[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t r = row + u * p.step;
      if (r >= job.rows) continue;
      raw_g[u] = fetch(from + r * job.channels);
      raw_x[u] = fetch(x + r * job.channels);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t r = row + u * p.step;
      if (r >= job.rows) continue;
      const VectorOf<T> g = unpack<T>(raw_g[u]);
      VectorOf<T> in = unpack<T>(raw_x[u]);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        const float passed = kResidual ? g.v[i]
                                       : through_activation<kSilu>(
                                             g.v[i], fmaf(in.v[i], scale[i], offset[i]), job.act);
        in.v[i] = fmaf(scale[i], passed, fmaf(b[i], in.v[i], c[i]));
      }
      store(dx + r * job.channels, in);
    }
  }
}

std::size_t shared_bytes(const NormGrid& grid, int vector_size) {
  return static_cast<std::size_t>(grid.lanes) * grid.vectors * vector_size * 2 * sizeof(float);
}

template <class T, bool kSilu>
void forward(const NormForward& job, const NormGrid& grid, cudaStream_t stream) {
  const dim3 blocks(grid.tiles, grid.splits);
  const int threads = grid.vectors * grid.lanes;
  statistics<T><<<blocks, threads, shared_bytes(grid, VectorOf<T>::kSize), stream>>>(job, grid);
  if (job.residual != nullptr) {
    normalise<T, true, kSilu><<<blocks, threads, 0, stream>>>(job, grid);
  } else {
    normalise<T, false, kSilu><<<blocks, threads, 0, stream>>>(job, grid);
  }
}

template <class T>
void forward(const NormForward& job, const NormGrid& grid, cudaStream_t stream) {
  job.act == Act::kSilu ? forward<T, true>(job, grid, stream)
                        : forward<T, false>(job, grid, stream);
}

template <class T, bool kResidual, bool kSilu>
void backward(const NormBackward& job, const NormGrid& grid, cudaStream_t stream) {
  const dim3 blocks(grid.tiles, grid.splits);
  const int threads = grid.vectors * grid.lanes;
  const std::size_t shared = shared_bytes(grid, VectorOf<T>::kSize);
  gradient_sums<T, kResidual, kSilu><<<blocks, threads, shared, stream>>>(job, grid);
  gradient_of_x<T, kResidual, kSilu><<<blocks, threads, 0, stream>>>(job, grid);
}

template <class T>
void backward(const NormBackward& job, const NormGrid& grid, cudaStream_t stream) {
  if (job.act == Act::kSilu) return backward<T, false, true>(job, grid, stream);
  if (job.dresidual != nullptr) return backward<T, true, false>(job, grid, stream);
  backward<T, false, false>(job, grid, stream);
}

}  // namespace

NormGrid norm_grid(std::int64_t rows, std::int64_t channels, Element element, int multiprocessors) {
  NormGrid grid;
  const int vector_size = element == Element::kFloat ? 4 : 8;
  if (rows < 1 || channels < vector_size || channels % vector_size != 0) return grid;
  const std::int64_t vectors = channels / vector_size;
  for (int v = 1; v <= kMaxVectors; ++v) {
    if (vectors % v == 0) grid.vectors = v;
  }
  if (vectors / grid.vectors > 65535) return grid;
  grid.tiles = static_cast<int>(vectors / grid.vectors);
  // 48 KB of shared memory without opting in for more: lanes * vectors * vector_size * 2 floats
  grid.lanes = std::min<int>(kThreads / grid.vectors, 48 * 1024 / (grid.vectors * vector_size * 8));
  const std::int64_t wanted = std::max(1, 4 * multiprocessors / grid.tiles);
  const std::int64_t useful = std::max<std::int64_t>(1, rows / (grid.lanes * kUnroll));
  grid.splits = static_cast<int>(std::min(wanted, useful));
  grid.supported = true;
  return grid;
}

std::size_t norm_scratch_floats(const NormGrid& grid, std::int64_t channels) {
  return static_cast<std::size_t>(grid.splits) * 2 * static_cast<std::size_t>(channels);
}

void norm_act_forward(const NormForward& job, const NormGrid& grid, Element element,
                      CUstream_st* stream) {
  if (element == Element::kHalf) return forward<__half>(job, grid, stream);
  if (element == Element::kBfloat16) return forward<__nv_bfloat16>(job, grid, stream);
  forward<float>(job, grid, stream);
}

void norm_act_backward(const NormBackward& job, const NormGrid& grid, Element element,
                       CUstream_st* stream) {
  if (element == Element::kHalf) return backward<__half>(job, grid, stream);
  if (element == Element::kBfloat16) return backward<__nv_bfloat16>(job, grid, stream);
  backward<float>(job, grid, stream);
}

}  // namespace falcon::ops::cuda
