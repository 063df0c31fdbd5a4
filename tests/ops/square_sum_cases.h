// Squares of the elements of many tensors, against the same in float64.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "ops/square_sum.h"

namespace falcon::test {

/// Of sizes with and without whole vectors and blocks, one that is not aligned, and many.
inline std::vector<at::Tensor> squared_tensors(const at::TensorOptions& options) {
  std::vector<at::Tensor> all;
  for (const std::int64_t size : {1, 4, 777, 32768, 100000}) {
    all.push_back(at::randn({size}).to(options));
  }
  all.push_back(at::randn({40001}).to(options).narrow(0, 1, 40000));
  for (int i = 0; i < 300; ++i) all.push_back(at::randn({5}).to(options));
  return all;
}

inline void expect_square_sums(at::Device device) {
  const auto floats = at::TensorOptions().dtype(at::kFloat).device(device);
  const std::vector<at::Tensor> wide = squared_tensors(floats);
  const std::vector<at::Tensor> half = squared_tensors(floats.dtype(at::kHalf));
  const std::vector<at::Tensor> brain = squared_tensors(floats.dtype(at::kBFloat16));
  double want = 0;
  for (const auto& list : {wide, half, brain}) {
    for (const at::Tensor& t : list) want += t.to(at::kDouble).square().sum().item<double>();
  }
  const at::Tensor sum = ops::square_sum({wide, half, {}, brain}, floats);
  EXPECT_EQ(sum.scalar_type(), at::kFloat);
  EXPECT_EQ(sum.dim(), 0);
  EXPECT_NEAR(sum.item<double>(), want, 1e-5 * want);
  EXPECT_TRUE(at::equal(sum, ops::square_sum({wide, half, {}, brain}, floats))) << "the same bits";
  EXPECT_EQ(ops::square_sum({}, floats).item<double>(), 0);
  for (const double odd : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    for (const auto& list : {wide, half, brain}) {
      list[5][39999].fill_(odd);
      EXPECT_FALSE(std::isfinite(ops::square_sum({list}, floats).item<double>()));
      list[5][39999].fill_(1);
    }
  }
}

}  // namespace falcon::test
