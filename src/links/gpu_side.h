// One GPU as an end of links: its stream and events, and buffers on the GPU and in host memory near
// it.
#pragma once
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include <falconbench/links_work.h>

namespace falcon::links {

class GpuSide {
 public:
  /// bytes: of each of the four buffers. near_cpus: host memory is taken by a thread on one of
  /// them, so that it lies on their NUMA node; empty: wherever. Throws Error(kWorker).
  GpuSide(int ordinal, std::int64_t bytes, const std::vector<int>& near_cpus);
  ~GpuSide();
  GpuSide(const GpuSide&) = delete;
  GpuSide& operator=(const GpuSide&) = delete;

  /// Makes it the GPU that the following calls of the runtime mean.
  void use() const;
  int ordinal() const { return ordinal_; }
  cudaStream_t stream() const { return stream_; }
  /// Where its host memory really lies.
  LinkMemory memory() const;

  std::uint64_t* source() const { return source_; }
  std::uint64_t* target() const { return target_; }
  std::uint64_t* host_source() const { return host_source_; }
  std::uint64_t* host_target() const { return host_target_; }

  // Events of a window: of the copies that this GPU enqueues, and of all.
  cudaEvent_t begin = nullptr, end = nullptr, all_ended = nullptr;

  /// Whether `words` words at target() are the pattern's. Waits.
  bool has_arrived(std::int64_t words, std::uint64_t seed) const;

 private:
  void allocate(std::int64_t bytes, const std::vector<int>& near_cpus);

  int ordinal_;
  cudaStream_t stream_ = nullptr;
  std::uint64_t* source_ = nullptr;
  std::uint64_t* target_ = nullptr;
  std::uint64_t* host_source_ = nullptr;
  std::uint64_t* host_target_ = nullptr;
  unsigned long long* wrong_ = nullptr;
};

}  // namespace falcon::links
