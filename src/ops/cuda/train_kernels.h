// The kernels of the step loop, as raw pointers (no Torch headers: they would be parsed once for
// every architecture).
#pragma once
#include <cstdint>

#include "ops/cuda/element.h"
#include "ops/step_counters.h"

struct CUstream_st;

namespace falcon::ops::cuda {

/// The picture width must be divisible by this.
inline constexpr std::int64_t kPixelsAtOnce = 4;

/// ops/image_prepare.h.
struct ImagePrepare {
  const std::uint8_t* images = nullptr;  // [count, height, width, 3]
  const std::uint8_t* flip = nullptr;    // [count], or nullptr
  void* out = nullptr;                   // [count, 3, height, width] in either layout
  std::int64_t count = 0, height = 0, width = 0;
  float mean[3] = {};
  float stddev[3] = {};
  bool channels_last = false;
};
void prepare_images(const ImagePrepare& job, Element element, CUstream_st* stream);

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
