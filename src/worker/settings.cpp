#include "worker/settings.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>
#include <sched.h>

#include <falconbench/errors.h>

#include "train/precision.h"

namespace falcon::worker {

void bind_to_cpus(const RankPlan& rank) {
  if (rank.cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : rank.cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw Error(ExitCode::kHost, "cannot bind rank " + std::to_string(rank.rank) + " to its " +
                                     std::to_string(rank.cpus.size()) +
                                     " CPUs: " + std::strerror(errno));
  }
}

void set_torch_switches(const Plan& plan, const RankPlan& rank, bool tf32) {
  const bool deterministic = plan.spec.engine.deterministic;
  at::set_num_threads(std::max(1, rank.compute_threads));
  train::set_tf32(tf32);
  at::globalContext().setBenchmarkCuDNN(plan.spec.engine.cudnn_benchmark && !deterministic);
  at::globalContext().setDeterministicCuDNN(deterministic);
  at::globalContext().setDeterministicAlgorithms(deterministic, /*warn_only=*/false);
  // every buffer would be filled once more than needed
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

void limit_memory(const Plan& plan, int ordinal) {
  if (!plan.spec.engine.memory_limit_gb) return;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess || total_bytes == 0) {
    throw Error(ExitCode::kHost, "engine.memory_limit_gb: cannot read the memory of the GPU");
  }
  const double fraction =
      *plan.spec.engine.memory_limit_gb * 1e9 / static_cast<double>(total_bytes);
  c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(1.0, fraction),
                                                     static_cast<c10::DeviceIndex>(ordinal));
}

}  // namespace falcon::worker
