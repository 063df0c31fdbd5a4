#include "ops/cuda/embedding_kernels.h"

namespace falcon::ops::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kElements = 4;  // of a thread, in one load
constexpr int kMaxWidth = kThreads * kElements;
constexpr int kWarp = 32;
constexpr int kWarps = 32;

__device__ float4 row_part(const float* row) {
  return *reinterpret_cast<const float4*>(row);
}
__device__ void set_part(float* row, const float4& value) {
  *reinterpret_cast<float4*>(row) = value;
}
__device__ float4 operator+(const float4& a, const float4& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

__global__ void __launch_bounds__(kThreads) embedding_forward_kernel(EmbeddingForward job) {
  const std::int64_t token = blockIdx.x;
  const std::int64_t width = job.tokens.width, column = threadIdx.x * kElements;
  if (column >= width) return;
  const float4 word = row_part(job.words + job.tokens.ids[token] * width + column);
  const float4 type = row_part(job.types + job.tokens.type_ids[token] * width + column);
  const float4 position = row_part(job.positions + token % job.tokens.length * width + column);
  set_part(job.sum + token * width + column, word + type + position);
}

// A block has one token. The first of those with one id adds up the rows of them all in their
// order, which needs neither sorting nor atomic additions; the others have nothing to do.
__global__ void __launch_bounds__(kThreads) word_gradient_kernel(EmbeddingBackward job) {
  __shared__ int same[kThreads];  // tokens with this id, in order
  __shared__ int counts[kThreads / kWarp];
  const int tokens = static_cast<int>(job.tokens.batch * job.tokens.length);
  const int token = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int id = job.tokens.ids[token];
  if (id == job.padding_index) return;
  bool is_first = true;
  for (int other = thread; other < token; other += kThreads) {
    is_first = is_first && job.tokens.ids[other] != id;
  }
  if (!__syncthreads_and(is_first)) return;

  const std::int64_t width = job.tokens.width;
  const int column = thread * kElements, lane = thread % kWarp, warp = thread / kWarp;
  float4 sum{};
  for (int begin = token; begin < tokens; begin += kThreads) {
    const int other = begin + thread;
    const bool is_same = other < tokens && job.tokens.ids[other] == id;
    const unsigned votes = __ballot_sync(0xffffffffU, is_same);
    if (lane == 0) counts[warp] = __popc(votes);
    __syncthreads();
    int count = 0, place = __popc(votes & ((1U << lane) - 1));
    for (int w = 0; w < kThreads / kWarp; ++w) {
      if (w < warp) place += counts[w];
      count += counts[w];
    }
    if (is_same) same[place] = other;
    __syncthreads();
    if (column < width) {
#pragma unroll 4
      for (int i = 0; i < count; ++i) sum = sum + row_part(job.dsum + same[i] * width + column);
    }
  }
  if (column < width) set_part(job.dwords + id * width + column, sum);
}

// A block has one position: what all sequences of the batch have there, as a whole and by type.
__global__ void __launch_bounds__(kThreads) position_gradient_kernel(EmbeddingBackward job) {
  const std::int64_t position = blockIdx.x;
  const std::int64_t width = job.tokens.width, column = threadIdx.x * kElements;
  if (column >= width) return;
  float4 sum{}, first{}, second{};
  if (position < job.tokens.length) {
#pragma unroll 4
    for (std::int64_t row = 0; row < job.tokens.batch; ++row) {
      const std::int64_t token = row * job.tokens.length + position;
      const float4 part = row_part(job.dsum + token * width + column);
      const bool is_first = job.tokens.type_ids[token] == 0;
      sum = sum + part;
      first = first + (is_first ? part : float4{});
      second = second + (is_first ? float4{} : part);
    }
    float* scratch = job.scratch + position * kTokenTypes * width + column;
    set_part(scratch, first);
    set_part(scratch + width, second);
  }
  set_part(job.dpositions + position * width + column, sum);
}

// A block has a strip of columns and all positions.
__global__ void __launch_bounds__(kWarp* kWarps) type_gradient_kernel(EmbeddingBackward job) {
  __shared__ float parts[kWarps][kWarp];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t width = kTokenTypes * job.tokens.width;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kWarp + lane;
  float sum = 0;
  if (column < width) {
#pragma unroll 4
    for (std::int64_t row = warp; row < job.tokens.length; row += kWarps) {
      sum += job.scratch[row * width + column];
    }
  }
  parts[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= width) return;
  sum = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) sum += parts[w][lane];
  job.dtypes[column] = sum;
}

}  // namespace

bool embedding_supported(std::int64_t width) {
  return width % kElements == 0 && width <= kMaxWidth;
}

void embedding_forward(const EmbeddingForward& job, CUstream_st* stream) {
  const auto tokens = static_cast<unsigned>(job.tokens.batch * job.tokens.length);
  embedding_forward_kernel<<<tokens, kThreads, 0, stream>>>(job);
}

void embedding_backward(const EmbeddingBackward& job, CUstream_st* stream) {
  const auto tokens = static_cast<unsigned>(job.tokens.batch * job.tokens.length);
  const auto strips = static_cast<unsigned>((kTokenTypes * job.tokens.width + kWarp - 1) / kWarp);
  if (job.dwords != nullptr) word_gradient_kernel<<<tokens, kThreads, 0, stream>>>(job);
  position_gradient_kernel<<<static_cast<unsigned>(job.positions), kThreads, 0, stream>>>(job);
  type_gradient_kernel<<<strips, kWarp * kWarps, 0, stream>>>(job);
}

}  // namespace falcon::ops::cuda
