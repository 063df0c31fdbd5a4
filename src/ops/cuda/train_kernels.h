// The kernels of the step loop, as raw pointers (no Torch headers: they would be parsed once for
// every architecture).
#pragma once
#include <cstddef>
#include <cstdint>

#include "ops/step_counters.h"

struct CUgraph_st;
struct CUgraphNode_st;
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

/// A kernel in a graph, which waits for nothing yet, that sets so many words of memory to a value;
/// nullptr where there was an error (cudaGetLastError). REQUIRES: memory aligned to 4 bytes.
CUgraphNode_st* add_fill(CUgraph_st* graph, std::uint32_t* memory, std::size_t words,
                         std::uint32_t value);

/// False in a build without a CUDA compiler; the functions above then throw Error(kHost).
bool has_train_kernels();

}  // namespace falcon::ops::cuda
