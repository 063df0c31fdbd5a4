// Copies between GPUs, and between GPUs and host memory, by one process that has all of them. Timed
// by events on the streams that copy, contents checked after every window.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <falconbench/links_work.h>

#include "links/gpu_side.h"

namespace falcon::links {

class GpuCopies {
 public:
  /// ordinals: CUDA's numbers of the devices of the work, in its order. Throws Error(kWorker).
  GpuCopies(const std::vector<int>& ordinals, const LinkWork& work);
  ~GpuCopies();

  /// Times one task by size; on_size is called after each. Throws Error(kWorker).
  LinkResult measure(const CopyTask& task, const std::function<void()>& on_size);
  /// Pairs (source, target) of which the runtime says that both reach each other's memory.
  const std::vector<LinkFlow>& peers() const { return peers_; }
  std::vector<LinkMemory> memory() const;

 private:
  // Both ends of a flow, and the GPU whose stream copies.
  struct Ends {
    std::uint64_t* source = nullptr;
    std::uint64_t* target = nullptr;
    int source_device = kHostMemory, target_device = kHostMemory, issuer = 0;
  };
  struct Times {
    double all_s = 0;
    std::vector<double> flow_s;
    bool is_late = false;  // the streams started before everything was enqueued
  };

  GpuSide& side(int device) const { return *sides_.at(static_cast<std::size_t>(device)); }
  Ends ends_of(const LinkFlow& flow, const std::string& method) const;
  void set_peer_access(const CopyTask& task);
  void set_peer_access(int from, int to, bool wanted);
  void prepare(const std::vector<Ends>& flows, std::int64_t bytes, std::uint64_t seed) const;
  bool have_arrived(const std::vector<Ends>& flows, std::int64_t bytes, std::uint64_t seed) const;
  void enqueue(const Ends& ends, const std::string& method, std::int64_t bytes) const;
  Times run_window(const std::vector<Ends>& flows, const std::string& method, std::int64_t bytes,
                   std::int64_t repeats, bool gated) const;
  LinkWindows measure_size(const CopyTask& task, const std::vector<Ends>& flows,
                           std::int64_t bytes);
  LinkWindows measure_loads(const CopyTask& task);

  const LinkWork& work_;
  std::vector<std::unique_ptr<GpuSide>> sides_;
  std::vector<LinkFlow> peers_;
  std::vector<std::vector<char>> has_access_;  // by GPU that reaches and GPU that is reached
  volatile int* gate_ = nullptr;               // host memory that GPUs see: open, expired
  std::uint64_t seed_ = 1;
};

}  // namespace falcon::links
