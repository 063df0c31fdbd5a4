// Lists of tensors that are cut into blocks, one for each block of threads: count tensors of `size`
// elements, the first block of each in first_block, and the end behind the last.
#pragma once
#include <cstdint>

namespace falcon::ops::cuda {

/// What a block of threads works on.
struct TensorBlock {
  int tensor;
  std::int64_t begin;  // element
  int count;           // elements
};

template <class Tensors>
__device__ TensorBlock tensor_block(const Tensors& tensors, int block) {
  int low = 0;
  for (int high = tensors.count; high - low > 1;) {
    const int middle = (low + high) / 2;
    (block < tensors.first_block[middle] ? high : low) = middle;
  }
  const std::int64_t begin = (block - tensors.first_block[low]) * Tensors::kBlock;
  const std::int64_t rest = tensors.size[low] - begin;
  return {low, begin, static_cast<int>(rest < Tensors::kBlock ? rest : Tensors::kBlock)};
}

}  // namespace falcon::ops::cuda
