#include "links/cuda/link_kernels.h"
#include "links/pattern.h"

namespace falcon::links::cuda {
namespace {

constexpr int kThreads = 256;
// Enough loads under way to fill a link, few enough to start at once on the smallest GPU.
constexpr int kBlocks = 256;

__device__ std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ std::int64_t stride() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

__global__ void fill_kernel(std::uint64_t* words, std::int64_t count, std::uint64_t seed) {
  for (std::int64_t i = first_index(); i < count; i += stride()) {
    words[i] = pattern_word(static_cast<std::uint64_t>(i), seed);
  }
}

__global__ void count_kernel(const std::uint64_t* words, std::int64_t count, std::uint64_t seed,
                             unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::int64_t i = first_index(); i < count; i += stride()) {
    mine += words[i] != pattern_word(static_cast<std::uint64_t>(i), seed) ? 1 : 0;
  }
  if (mine > 0) atomicAdd(wrong, mine);
}

__device__ std::int64_t now_ns() {
  std::int64_t time = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__global__ void gate_kernel(const volatile int* open, volatile int* expired,
                            std::int64_t limit_ns) {
  const std::int64_t begin = now_ns();
  while (*open == 0) {
    if (now_ns() - begin > limit_ns) {
      *expired = 1;
      __threadfence_system();
      return;
    }
  }
}

__global__ void copy_kernel(uint4* target, const uint4* source, std::int64_t count) {
  const std::int64_t step = stride();
  std::int64_t i = first_index();
  for (; i + 3 * step < count; i += 4 * step) {  // four loads under way before the first store
    const uint4 a = source[i];
    const uint4 b = source[i + step];
    const uint4 c = source[i + 2 * step];
    const uint4 d = source[i + 3 * step];
    target[i] = a;
    target[i + step] = b;
    target[i + 2 * step] = c;
    target[i + 3 * step] = d;
  }
  for (; i < count; i += step) target[i] = source[i];
}

__global__ void follow_kernel(const volatile std::uint64_t* next, std::int64_t hops,
                              std::uint64_t* last) {
  std::uint64_t at = 0;
  for (std::int64_t i = 0; i < hops; ++i) at = next[at];
  *last = at;
}

}  // namespace

void fill_pattern(std::uint64_t* words, std::int64_t count, std::uint64_t seed,
                  CUstream_st* stream) {
  fill_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, seed);
}

void count_wrong(const std::uint64_t* words, std::int64_t count, std::uint64_t seed,
                 unsigned long long* wrong, CUstream_st* stream) {
  count_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, seed, wrong);
}

void wait_for_gate(const volatile int* open, volatile int* expired, std::int64_t limit_ns,
                   CUstream_st* stream) {
  gate_kernel<<<1, 1, 0, stream>>>(open, expired, limit_ns);
}

void copy_by_kernel(void* target, const void* source, std::int64_t bytes, CUstream_st* stream) {
  copy_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<uint4*>(target),
                                                static_cast<const uint4*>(source), bytes / 16);
}

void follow(const std::uint64_t* next, std::int64_t hops, std::uint64_t* last,
            CUstream_st* stream) {
  follow_kernel<<<1, 1, 0, stream>>>(next, hops, last);
}

bool has_link_kernels() {
  return true;
}

}  // namespace falcon::links::cuda
