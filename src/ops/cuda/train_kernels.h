// The kernels of the step loop, as raw pointers (no Torch headers: they would be parsed once for
// every architecture).
#pragma once
#include <cstdint>

#include "ops/step_counters.h"

struct CUstream_st;

namespace falcon::ops::cuda {

/// What the steps read of the schedule, on the device.
struct StepRow {
  float lr, bias_lr, momentum;
};

/// The end of a step: counts it, finds the next row of rates and tells the host.
struct StepAdvance {
  StepCounters* counters = nullptr;
  StepRow* row = nullptr;  // in: of this step; out: of the next one
  RateTable table;
  const float* loss = nullptr;
  const float* loss_scale = nullptr;  // or nullptr: no loss scaling
  const float* found_inf = nullptr;   // with loss_scale: not 0 when the update was skipped
  StepReport* ring = nullptr;         // host memory; step s goes to ring[(s - 1) % ring_size]
  std::int64_t ring_size = 0;
  std::int64_t* progress = nullptr;  // host memory: steps done, written last
};
void advance_step(const StepAdvance& job, CUstream_st* stream);

/// False in a build without a CUDA compiler; the functions above then throw Error(kHost).
bool has_train_kernels();

}  // namespace falcon::ops::cuda
