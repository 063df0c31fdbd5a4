#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include "square_sum_cases.h"

namespace falcon::ops {
namespace {

TEST(SquareSumKernel, AddsUpAsItsTwin) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  test::expect_square_sums(at::Device(at::kCUDA, 0));
}

}  // namespace
}  // namespace falcon::ops
