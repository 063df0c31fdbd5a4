#include "ops/square_sum.h"

#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "square_sum_cases.h"

namespace falcon::ops {
namespace {

TEST(SquareSum, IsThatOfAllTensors) {
  test::expect_square_sums(at::kCPU);
  const std::vector<at::Tensor> two{at::randn({7}, at::kDouble), at::randn({2, 3}, at::kDouble)};
  const double want = two[0].square().sum().item<double>() + two[1].square().sum().item<double>();
  EXPECT_NEAR(square_sum({two}, two[0].options()).item<double>(), want, 1e-14 * want);
}

}  // namespace
}  // namespace falcon::ops
