// The plain operators against their definitions.
#include "ops/basic.h"

#include <cmath>

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace falcon::ops {
namespace {

at::Tensor wave(at::IntArrayRef shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return at::sin(at::arange(count, at::kDouble).mul(1.3)).reshape(shape);
}

/// Cross-correlation by its sum.
at::Tensor plain_conv2d(const at::Tensor& x, const at::Tensor& filter, const ConvolutionShape& s) {
  const std::int64_t outputs = filter.size(0);
  const std::int64_t inputs = filter.size(1);
  const std::int64_t kernel = filter.size(2);
  const std::int64_t height = (x.size(2) + 2 * s.padding - kernel) / s.stride + 1;
  const std::int64_t width = (x.size(3) + 2 * s.padding - kernel) / s.stride + 1;
  at::Tensor y = at::zeros({x.size(0), outputs, height, width}, at::kDouble);
  auto out = y.accessor<double, 4>();
  const auto in = x.accessor<double, 4>();
  const auto weight = filter.accessor<double, 4>();
  const auto element = [&](std::int64_t n, std::int64_t c, std::int64_t row, std::int64_t column) {
    const bool is_inside = row >= 0 && row < x.size(2) && column >= 0 && column < x.size(3);
    return is_inside ? in[n][c][row][column] : 0;
  };
  for (std::int64_t index = 0; index < y.numel() * inputs * kernel * kernel; ++index) {
    const std::int64_t tap = index % (kernel * kernel);
    const std::int64_t c = index / (kernel * kernel) % inputs;
    const std::int64_t place = index / (kernel * kernel * inputs);
    const std::int64_t column = place % width;
    const std::int64_t row = place / width % height;
    const std::int64_t o = place / (width * height) % outputs;
    const std::int64_t n = place / (width * height * outputs);
    const std::int64_t group = o / (outputs / s.groups);
    out[n][o][row][column] +=
        weight[o][c][tap / kernel][tap % kernel] *
        element(n, group * inputs + c, row * s.stride - s.padding + tap / kernel,
                column * s.stride - s.padding + tap % kernel);
  }
  return y;
}

TEST(Conv2d, IsTheCrossCorrelation) {
  const at::Tensor x = wave({2, 4, 6, 5});
  const ConvolutionShape strided{.stride = 2, .padding = 1};
  const ConvolutionShape depthwise{.stride = 1, .padding = 1, .groups = 4};
  const ConvolutionShape grouped{.stride = 2, .padding = 0, .groups = 2};
  const auto check = [&x](const at::Tensor& filter, const ConvolutionShape& shape) {
    EXPECT_TRUE(
        at::allclose(conv2d(x, filter, shape), plain_conv2d(x, filter, shape), 1e-12, 1e-12));
  };
  check(wave({3, 4, 3, 3}), strided);
  check(wave({4, 1, 3, 3}), depthwise);
  check(wave({6, 2, 1, 1}), grouped);
}

TEST(Linear, MultipliesByTheTransposedWeight) {
  const at::Tensor x = at::tensor({1.0, 2.0}).reshape({1, 2});
  const at::Tensor weight = at::tensor({3.0, 4.0, 5.0, 6.0}).reshape({2, 2});
  EXPECT_TRUE(at::equal(linear(x, weight, at::tensor({0.5, -0.5})),
                        at::tensor({11.5, 16.5}).reshape({1, 2})));
}

TEST(MaxPool2d, PaddingNeverWins) {
  const at::Tensor x = at::full({1, 1, 4, 4}, -3.0);
  const at::Tensor y = max_pool2d(x, 3, 2, 1);
  EXPECT_EQ(y.sizes(), (std::vector<std::int64_t>{1, 1, 2, 2}));
  EXPECT_TRUE(at::equal(y, at::full({1, 1, 2, 2}, -3.0)));
}

TEST(MaxPool2d, TakesTheLargestOfEachWindow) {
  const at::Tensor x = at::arange(16, at::kDouble).reshape({1, 1, 4, 4});
  EXPECT_TRUE(
      at::equal(max_pool2d(x, 3, 2, 1), at::tensor({5.0, 7.0, 13.0, 15.0}).reshape({1, 1, 2, 2})));
}

TEST(GlobalAvgPool, IsTheMeanOfEachMap) {
  const at::Tensor x = at::arange(12, at::kDouble).reshape({1, 2, 2, 3});
  EXPECT_TRUE(at::equal(global_avg_pool(x), at::tensor({2.5, 8.5}).reshape({1, 2, 1, 1})));
}

TEST(Dropout, IsTheIdentityOutsideTrainingAndAtZero) {
  const at::Tensor x = at::ones({8, 8});
  EXPECT_TRUE(dropout(x, 0.5, /*training=*/false).is_same(x));
  EXPECT_TRUE(dropout(x, 0, /*training=*/true).is_same(x));
}

TEST(Dropout, KeepsTheMeanInTraining) {
  const at::Tensor y = dropout(at::ones({100000}), 0.2, /*training=*/true);
  const double zeros = y.eq(0).sum().item<double>() / 100000;
  EXPECT_NEAR(zeros, 0.2, 0.01);  // 8 standard deviations
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.8, 1e-6);
}

TEST(CrossEntropy, IsTheMeanNegativeLogProbability) {
  const at::Tensor logits = at::tensor({1.0, 2.0, 3.0, -1.0, 0.0, 0.5}).reshape({2, 3});
  const at::Tensor labels = at::tensor(std::vector<std::int64_t>{2, 0});
  const double first = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)) - 3;
  const double second = std::log(std::exp(-1.0) + std::exp(0.0) + std::exp(0.5)) + 1;
  EXPECT_NEAR(cross_entropy(logits, labels).item<double>(), (first + second) / 2, 1e-12);
}

TEST(CrossEntropy, WidensSixteenBitLogits) {
  const at::Tensor logits = at::full({2, 1000}, 0.5, at::kBFloat16);
  const at::Tensor loss = cross_entropy(logits, at::zeros({2}, at::kLong));
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_NEAR(loss.item<double>(), std::log(1000.0), 1e-5);
}

}  // namespace
}  // namespace falcon::ops
