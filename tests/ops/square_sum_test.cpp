// Squares of the elements of many tensors, against the same in float64, on the CPU and on a GPU.
#include "ops/square_sum.h"

#include <cmath>
#include <limits>

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

namespace falcon::ops {
namespace {

/// Of sizes with and without whole vectors and blocks, one that is not aligned, and many.
std::vector<at::Tensor> some_tensors(const at::TensorOptions& options) {
  std::vector<at::Tensor> all;
  for (const std::int64_t size : {1, 4, 777, 32768, 100000}) {
    all.push_back(at::randn({size}).to(options));
  }
  all.push_back(at::randn({40001}).to(options).narrow(0, 1, 40000));
  for (int i = 0; i < 300; ++i) all.push_back(at::randn({5}).to(options));
  return all;
}

void expect_sums(at::Device device) {
  const auto floats = at::TensorOptions().dtype(at::kFloat).device(device);
  const std::vector<at::Tensor> wide = some_tensors(floats);
  const std::vector<at::Tensor> half = some_tensors(floats.dtype(at::kHalf));
  const std::vector<at::Tensor> brain = some_tensors(floats.dtype(at::kBFloat16));
  double want = 0;
  for (const auto& list : {wide, half, brain}) {
    for (const at::Tensor& t : list) want += t.to(at::kDouble).square().sum().item<double>();
  }
  const at::Tensor sum = square_sum({wide, half, {}, brain}, floats);
  EXPECT_EQ(sum.scalar_type(), at::kFloat);
  EXPECT_EQ(sum.dim(), 0);
  EXPECT_NEAR(sum.item<double>(), want, 1e-5 * want);
  EXPECT_TRUE(at::equal(sum, square_sum({wide, half, {}, brain}, floats))) << "the same bits";
  EXPECT_EQ(square_sum({}, floats).item<double>(), 0);
  for (const double odd : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    for (const auto& list : {wide, half, brain}) {
      list[5][39999].fill_(odd);
      EXPECT_FALSE(std::isfinite(square_sum({list}, floats).item<double>()));
      list[5][39999].fill_(1);
    }
  }
}

TEST(SquareSum, IsThatOfAllTensors) {
  expect_sums(at::kCPU);
  const std::vector<at::Tensor> two{at::randn({7}, at::kDouble), at::randn({2, 3}, at::kDouble)};
  const double want = two[0].square().sum().item<double>() + two[1].square().sum().item<double>();
  EXPECT_NEAR(square_sum({two}, two[0].options()).item<double>(), want, 1e-14 * want);
}

TEST(SquareSum, OnAGpu) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  expect_sums(at::Device(at::kCUDA, 0));
}

}  // namespace
}  // namespace falcon::ops
