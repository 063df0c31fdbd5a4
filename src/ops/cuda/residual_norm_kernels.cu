#include "ops/cuda/residual_norm_kernels.h"
#include "ops/cuda/vectors.cuh"

namespace falcon::ops::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 4;      // of a block; a warp has a row
constexpr int kElements = 8;   // of a lane at once: a byte of the mask
constexpr int kMaxChunks = 4;  // of a lane: rows of up to 1024 elements stay in registers
constexpr int kThreads = kWarp * kWarps;
constexpr int kGatherWarps = 16;
constexpr float kSteps = 65536.0F;  // of the dropout probability

/// kElements neighbours, as floats.
struct Chunk {
  float v[kElements];
};

template <class T>
__device__ Chunk load(const T* from) {
  constexpr int kSize = VectorOf<T>::kSize;
  Chunk out;
#pragma unroll
  for (int part = 0; part < kElements / kSize; ++part) {
    const VectorOf<T> vector = unpack<T>(fetch(from + part * kSize));
#pragma unroll
    for (int i = 0; i < kSize; ++i) out.v[part * kSize + i] = vector.v[i];
  }
  return out;
}

template <class T>
__device__ void save(T* to, const Chunk& in) {
  constexpr int kSize = VectorOf<T>::kSize;
#pragma unroll
  for (int part = 0; part < kElements / kSize; ++part) {
    VectorOf<T> vector;
#pragma unroll
    for (int i = 0; i < kSize; ++i) vector.v[i] = in.v[part * kSize + i];
    store(to + part * kSize, vector);
  }
}

template <class T>
__device__ float rounded(float x) {
  T narrowed;
  narrow(x, narrowed);
  return widen(narrowed);
}

__device__ float warp_sum(float x) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
  return x;
}

// SplitMix64's finaliser, as base/counter_random.h.
__device__ std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
constexpr std::uint64_t kGoldenRatio64 = 0x9E3779B97F4A7C15ULL;

__device__ std::uint64_t key_of(const RandomState& random) {
  std::uint64_t seed = random.seed;
  std::uint64_t offset = random.offset;
  if (random.seed_pointer != nullptr) {
    seed = static_cast<std::uint64_t>(*random.seed_pointer);
    offset += static_cast<std::uint64_t>(*random.offset_pointer);
  }
  return mix64(mix64(seed + kGoldenRatio64) + kGoldenRatio64 * (offset + 1));
}

/// A bit for each element of a chunk: 16 random bits are not below the threshold.
__device__ unsigned draw_mask(std::uint64_t key, std::int64_t chunk, unsigned threshold) {
  unsigned mask = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const auto place = static_cast<std::uint64_t>(2 * chunk + half);
    const std::uint64_t bits = mix64(key + (place + 1) * kGoldenRatio64);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const auto word = static_cast<unsigned>(bits >> (16 * i)) & 0xffffU;
      mask |= (word >= threshold ? 1U : 0U) << (4 * half + i);
    }
  }
  return mask;
}

template <class T, int kChunks>
__global__ void __launch_bounds__(kThreads) forward_kernel(ResidualNormForward job) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarp;
  if (row >= job.rows) return;
  const int chunks = static_cast<int>(job.width) / kElements;
  const float scale = 1 / (1 - job.dropout);
  const auto threshold = static_cast<unsigned>(job.dropout * kSteps);
  const std::uint64_t key = job.mask != nullptr ? key_of(job.random) : 0;
  Chunk sum[kChunks];
  float total = 0;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int chunk = c * kWarp + lane;
    if (chunk >= chunks) continue;
    const std::int64_t place = row * chunks + chunk;
    const Chunk x = load(static_cast<const T*>(job.x) + place * kElements);
    const Chunk residual = load(static_cast<const T*>(job.residual) + place * kElements);
    unsigned mask = 0xffU;
    if (job.mask != nullptr) {
      mask = draw_mask(key, place, threshold);
      job.mask[place] = static_cast<std::uint8_t>(mask);
    }
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const float kept = (mask >> i & 1U) != 0 ? x.v[i] * scale : 0;
      sum[c].v[i] = rounded<T>(residual.v[i] + kept);  // as the backward pass will read it
      total += sum[c].v[i];
    }
    save(static_cast<T*>(job.sum) + place * kElements, sum[c]);
  }
  const float width = static_cast<float>(job.width);
  const float mean = warp_sum(total) / width;
  float squares = 0;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    if (c * kWarp + lane >= chunks) continue;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      squares += (sum[c].v[i] - mean) * (sum[c].v[i] - mean);
    }
  }
  const float inverse_std = rsqrtf(warp_sum(squares) / width + job.eps);
  if (lane == 0) {
    job.mean[row] = mean;
    job.inverse_std[row] = inverse_std;
  }
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int chunk = c * kWarp + lane;
    if (chunk >= chunks) continue;
    const Chunk weight = load(job.weight + chunk * kElements);
    const Chunk bias = load(job.bias + chunk * kElements);
    Chunk y;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      y.v[i] = weight.v[i] * (sum[c].v[i] - mean) * inverse_std + bias.v[i];
    }
    save(static_cast<T*>(job.y) + (row * chunks + chunk) * kElements, y);
  }
}

/// One row: dresidual and dx; adds to the sums of the lane's columns.
template <class T, int kChunks>
__device__ void backward_row(const ResidualNormBackward& job, std::int64_t row, int lane,
                             const Chunk (&weight)[kChunks], Chunk (&dweight)[kChunks],
                             Chunk (&dbias)[kChunks]) {
  const int chunks = static_cast<int>(job.width) / kElements;
  const float mean = job.mean[row];
  const float inverse_std = job.inverse_std[row];
  Chunk normal[kChunks], g[kChunks];
  float first = 0, second = 0;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int chunk = c * kWarp + lane;
    if (chunk >= chunks) continue;
    const std::int64_t place = (row * chunks + chunk) * kElements;
    const Chunk dy = load(static_cast<const T*>(job.dy) + place);
    normal[c] = load(static_cast<const T*>(job.sum) + place);
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      normal[c].v[i] = (normal[c].v[i] - mean) * inverse_std;
      g[c].v[i] = dy.v[i] * weight[c].v[i];
      first += g[c].v[i];
      second += g[c].v[i] * normal[c].v[i];
      dweight[c].v[i] += dy.v[i] * normal[c].v[i];
      dbias[c].v[i] += dy.v[i];
    }
  }
  first = warp_sum(first) / static_cast<float>(job.width);
  second = warp_sum(second) / static_cast<float>(job.width);
  const float scale = 1 / (1 - job.dropout);
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int chunk = c * kWarp + lane;
    if (chunk >= chunks) continue;
    const std::int64_t place = row * chunks + chunk;
    Chunk d;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      d.v[i] = inverse_std * (g[c].v[i] - first - normal[c].v[i] * second);
    }
    save(static_cast<T*>(job.dresidual) + place * kElements, d);
    if (job.mask == nullptr) continue;
    const unsigned mask = job.mask[place];
#pragma unroll
    for (int i = 0; i < kElements; ++i) d.v[i] = (mask >> i & 1U) != 0 ? d.v[i] * scale : 0;
    save(static_cast<T*>(job.dx) + place * kElements, d);
  }
}

/// Where a block's sums of a column lie: elements of a lane apart, so that lanes meet in no bank.
__device__ int column_of(int place) {
  const int lane = place % kWarp;
  const int element = place / kWarp % kElements;
  const int chunk = place / (kWarp * kElements);
  return (chunk * kWarp + lane) * kElements + element;
}

template <class T, int kChunks>
__global__ void __launch_bounds__(kThreads) backward_kernel(ResidualNormBackward job) {
  constexpr int kPlaces = kChunks * kWarp * kElements;
  __shared__ float sums[2][kPlaces];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int chunks = static_cast<int>(job.width) / kElements;
  Chunk weight[kChunks], dweight[kChunks] = {}, dbias[kChunks] = {};
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int chunk = c * kWarp + lane;
    if (chunk < chunks) weight[c] = load(job.weight + chunk * kElements);
  }
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kWarps;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp; row < job.rows;
       row += step) {
    backward_row<T, kChunks>(job, row, lane, weight, dweight, dbias);
  }
  for (int turn = 0; turn < kWarps; ++turn) {  // one warp after another: a fixed order
    if (turn == warp) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
          const int place = (c * kElements + i) * kWarp + lane;
          sums[0][place] = dweight[c].v[i] + (turn == 0 ? 0 : sums[0][place]);
          sums[1][place] = dbias[c].v[i] + (turn == 0 ? 0 : sums[1][place]);
        }
      }
    }
    __syncthreads();
  }
  float* mine = job.scratch + static_cast<std::int64_t>(blockIdx.x) * 2 * kPlaces;
  for (int i = static_cast<int>(threadIdx.x); i < kPlaces; i += kThreads) {
    mine[i] = sums[0][i];
    mine[kPlaces + i] = sums[1][i];
  }
}

/// Adds the blocks' sums: a warp has 32 places and walks the blocks, a block's warps share them.
template <int kChunks>
__global__ void __launch_bounds__(kGatherWarps* kWarp)
    gather_kernel(ResidualNormBackward job, int blocks) {
  constexpr int kPlaces = kChunks * kWarp * kElements;
  __shared__ float parts[kGatherWarps][kWarp];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int place = static_cast<int>(blockIdx.x) * kWarp + lane;
  float sum = 0;
#pragma unroll 4
  for (int block = warp; block < blocks; block += kGatherWarps) {
    sum += job.scratch[static_cast<std::int64_t>(block) * 2 * kPlaces + place];
  }
  parts[warp][lane] = sum;
  __syncthreads();
  const int column = column_of(place % kPlaces);
  if (warp != 0 || column >= job.width) return;
  for (int other = 1; other < kGatherWarps; ++other) sum += parts[other][lane];
  (place < kPlaces ? job.dweight : job.dbias)[column] = sum;
}

template <class T, int kChunks>
void launch(const ResidualNormForward& job, CUstream_st* stream) {
  const auto blocks = static_cast<unsigned>((job.rows + kWarps - 1) / kWarps);
  forward_kernel<T, kChunks><<<blocks, kThreads, 0, stream>>>(job);
}

template <class T, int kChunks>
void launch(const ResidualNormBackward& job, int blocks, CUstream_st* stream) {
  backward_kernel<T, kChunks><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(job);
  constexpr unsigned kGatherBlocks = 2 * kChunks * kElements;
  gather_kernel<kChunks><<<kGatherBlocks, kGatherWarps * kWarp, 0, stream>>>(job, blocks);
}

template <class T, class Job, class... Rest>
void by_width(const Job& job, Rest... rest) {
  switch ((job.width + kWarp * kElements - 1) / (kWarp * kElements)) {
    case 1:
      return launch<T, 1>(job, rest...);
    case 2:
      return launch<T, 2>(job, rest...);
    case 3:
      return launch<T, 3>(job, rest...);
    default:
      return launch<T, 4>(job, rest...);
  }
}

template <class Job, class... Rest>
void by_type(const Job& job, Element element, Rest... rest) {
  switch (element) {
    case Element::kFloat:
      return by_width<float>(job, rest...);
    case Element::kHalf:
      return by_width<__half>(job, rest...);
    case Element::kBfloat16:
      return by_width<__nv_bfloat16>(job, rest...);
  }
}

}  // namespace

bool residual_norm_supported(std::int64_t width) {
  return width % kElements == 0 && width <= kMaxChunks * kWarp * kElements;
}

/// As many as run at the same time, at most, and warps with equally many rows.
int residual_norm_blocks(std::int64_t rows, int multiprocessors) {
  constexpr std::int64_t kBlocksOfMultiprocessor = 2;
  const std::int64_t warps = kBlocksOfMultiprocessor * multiprocessors * kWarps;
  const std::int64_t rows_of_block = kWarps * ((rows + warps - 1) / warps);
  return static_cast<int>((rows + rows_of_block - 1) / rows_of_block);
}

std::int64_t residual_norm_scratch(std::int64_t width) {
  constexpr std::int64_t kStep = kWarp * kElements;
  return 2 * ((width + kStep - 1) / kStep * kStep);
}

float residual_norm_dropout(double probability) {
  return static_cast<float>(static_cast<unsigned>(probability * kSteps + 0.5)) / kSteps;
}

void residual_norm_forward(const ResidualNormForward& job, Element element, CUstream_st* stream) {
  if (job.rows > 0) by_type(job, element, stream);
}

void residual_norm_backward(const ResidualNormBackward& job, int blocks, Element element,
                            CUstream_st* stream) {
  if (job.rows > 0) by_type(job, element, blocks, stream);
}

}  // namespace falcon::ops::cuda
