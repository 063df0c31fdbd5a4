// What is set once for the whole process of a rank, before anything computes.
#pragma once
#include <cstdint>

#include <c10/core/Device.h>

#include <falconbench/plan.h>

namespace falcon::worker {

/// Binds this thread, and all that it will start, to the planned CPUs. Throws Error(kHost).
void bind_to_cpus(const RankPlan& rank);

/// Switches of LibTorch: operator threads, TF32, cuDNN benchmark, deterministic algorithms.
void set_torch_switches(const Plan& plan, const RankPlan& rank, bool tf32);

/// engine.memory_limit_gb as a cap of the caching allocator; the device must be initialised.
void limit_memory(const Plan& plan, int ordinal);

}  // namespace falcon::worker
