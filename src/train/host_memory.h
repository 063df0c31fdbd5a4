// Host memory that a GPU can reach: page-locked, so copies run beside the computation and kernels
// can write into it. Plain memory where the training device is the CPU.
#pragma once
#include <cstddef>

#include <falconbench/dataset.h>

namespace falcon::train {

/// One block, zeroed, aligned to 64 bytes at least. Throws std::bad_alloc.
class HostBlock {
 public:
  HostBlock(std::size_t bytes, bool page_locked);
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  bool page_locked_;
};

/// The loader's slots. Thread-safe. REQUIRES: page_locked only with a current CUDA device.
class HostAllocator : public SlotAllocator {
 public:
  explicit HostAllocator(bool page_locked) : page_locked_(page_locked) {}
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;

 private:
  bool page_locked_;
};

}  // namespace falcon::train
