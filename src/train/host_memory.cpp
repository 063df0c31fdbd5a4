#include "train/host_memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>

namespace falcon::train {
namespace {

constexpr std::size_t kAlignment = 64;

std::byte* allocate_block(std::size_t bytes, bool page_locked) {
  void* memory = nullptr;
  if (page_locked) {
    if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess) {
      cudaGetLastError();  // else the next call of somebody else would report it
      throw std::bad_alloc();
    }
  } else {
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    memory = std::aligned_alloc(kAlignment, rounded);
    if (memory == nullptr) throw std::bad_alloc();
  }
  std::memset(memory, 0, bytes);
  return static_cast<std::byte*>(memory);
}

void free_block(std::byte* memory, bool page_locked) noexcept {
  if (page_locked) {
    C10_CUDA_CHECK_WARN(cudaFreeHost(memory));
  } else {
    std::free(memory);
  }
}

}  // namespace

HostBlock::HostBlock(std::size_t bytes, bool page_locked)
    : data_(allocate_block(bytes, page_locked)), page_locked_(page_locked) {}

HostBlock::~HostBlock() {
  free_block(data_, page_locked_);
}

std::byte* HostAllocator::allocate(std::size_t bytes) {
  return allocate_block(bytes, page_locked_);
}

void HostAllocator::release(std::byte* memory) noexcept {
  free_block(memory, page_locked_);
}

}  // namespace falcon::train
