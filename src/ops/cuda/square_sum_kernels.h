// The kernel of ops/square_sum.h, as raw pointers.
#pragma once
#include <cstdint>

#include "ops/cuda/element.h"

struct CUstream_st;

namespace falcon::ops::cuda {

/// Up to kMax tensors of one type for one launch, cut into blocks of kBlock elements.
struct SquaredTensors {
  static constexpr int kMax = 192;  // the struct is a kernel argument: below 4 KB
  static constexpr std::int64_t kBlock = 1 << 15;

  const void* tensor[kMax];
  std::int64_t size[kMax];
  int first_block[kMax + 1] = {};  // of each tensor, and the end
  int count = 0;

  void add(const void* elements, std::int64_t number) {
    tensor[count] = elements;
    size[count] = number;
    first_block[count + 1] = first_block[count] + static_cast<int>((number + kBlock - 1) / kBlock);
    ++count;
  }
  int blocks() const { return first_block[count]; }
};

/// sums[b] = sum of the squares of block b's elements, in float32 in a fixed order.
void square_sums(const SquaredTensors& tensors, Element element, float* sums, CUstream_st* stream);

}  // namespace falcon::ops::cuda
