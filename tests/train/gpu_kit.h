// What tests of the training loop on GPUs share.
#pragma once
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include "train/training_kit.h"

namespace falcon::test {

inline at::Device gpu(int ordinal = 0) {
  return {at::kCUDA, static_cast<c10::DeviceIndex>(ordinal)};
}

/// The training stream is current in every test, as in a worker.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    c10::cuda::set_device(0);
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(false, 0));
  }
};

inline train::TrainerOptions options_on(int ordinal, bool channels_last = true) {
  train::TrainerOptions options;
  options.device = gpu(ordinal);
  options.channels_last = channels_last;
  options.training_stream = c10::cuda::getCurrentCUDAStream(options.device.index()).stream();
  options.copy_stream = c10::cuda::getStreamFromPool(false, options.device.index()).stream();
  return options;
}

inline Plan fp16_plan(int world, std::int64_t batch) {
  Plan plan = small_plan(world, batch);
  plan.spec.precision = "fp16";
  plan.ranks[0].decode_threads = 4;
  return plan;
}

/// The phases of every measured step are none below 0 and sum to the step.
inline void expect_phases_sum_up(const WorkerRecords& records) {
  for (std::size_t step = 0; step < records.step_ms.size(); ++step) {
    double sum = 0;
    for (const auto& [name, list] : records.phases.ms) {
      if (list.empty()) continue;
      EXPECT_GE(list[step], -0.01) << name;
      sum += list[step];
    }
    EXPECT_NEAR(sum, records.step_ms[step], 0.02 * records.step_ms[step]);
  }
}

}  // namespace falcon::test
