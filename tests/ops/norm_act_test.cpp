// ops::norm_act on the CPU against its formula written out, in values, gradients and running
// statistics.
#include "ops/norm_act.h"

#include <string>
#include <tuple>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace falcon::ops {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr double kEps = 1e-5;

/// Uneven values without a random generator; rows differ by `phase`.
at::Tensor wave(at::IntArrayRef shape, double phase, at::ScalarType type = at::kDouble) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  const at::Tensor angles = at::linspace(phase, phase + 37.0 * count, count, at::kDouble);
  return at::sin(angles).mul(4).reshape(shape).to(type);
}

at::Tensor per_channel(const at::Tensor& vector) {
  return vector.reshape({1, kChannels, 1, 1});
}

NormTensors made_norm() {
  NormTensors norm;
  norm.weight = wave({kChannels}, 0.3).requires_grad_(true);
  norm.bias = wave({kChannels}, 1.7).requires_grad_(true);
  norm.running_mean = wave({kChannels}, 2.9);
  norm.running_var = wave({kChannels}, 4.1).abs().add(0.5);
  norm.momentum = 0.25;
  norm.eps = kEps;
  return norm;
}

at::Tensor activated(const at::Tensor& y, Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return at::clamp(y, 0);
    case Activation::kRelu6:
      return at::clamp(y, 0, 6);
    case Activation::kSilu:
      return y.div(y.neg().exp().add(1));
    case Activation::kNone:
      break;
  }
  return y;
}

/// The formula of the contract.
at::Tensor expected(const at::Tensor& x, const NormTensors& norm, bool training,
                    Activation activation, const at::Tensor& residual) {
  at::Tensor mean = per_channel(norm.running_mean);
  at::Tensor variance = per_channel(norm.running_var);
  if (training) {
    mean = x.mean({0, 2, 3}, /*keepdim=*/true);
    variance = x.sub(mean).square().mean({0, 2, 3}, /*keepdim=*/true);
  }
  at::Tensor y = x.sub(mean).div(at::sqrt(variance.add(norm.eps)));
  y = y.mul(per_channel(norm.weight)).add(per_channel(norm.bias));
  if (!residual.defined()) return activated(y, activation);
  return activation == Activation::kSilu ? activated(y, activation).add(residual)
                                         : activated(y.add(residual), activation);
}

using Case = std::tuple<bool, Activation, bool>;  // training, activation, residual

class NormAct : public testing::TestWithParam<Case> {};

TEST_P(NormAct, EqualsItsFormulaInValuesAndGradients) {
  const auto [training, activation, has_residual] = GetParam();
  const NormTensors norm = made_norm();
  const std::vector<std::int64_t> shape{4, kChannels, 5, 3};
  const at::Tensor x = wave(shape, 0.1).requires_grad_(true);
  const at::Tensor residual = has_residual ? wave(shape, 0.7).requires_grad_(true) : at::Tensor();
  const at::Tensor weighting = wave(shape, 5.3);
  const std::vector<at::Tensor> leaves{x, norm.weight, norm.bias, residual};
  std::vector<at::Tensor> gradients;
  const at::Tensor want = expected(x, norm, training, activation, residual);
  want.mul(weighting).sum().backward();
  for (const at::Tensor& leaf : leaves) {
    gradients.push_back(leaf.defined() ? leaf.grad().clone() : at::Tensor());
    if (leaf.defined()) {
      leaf.mutable_grad().reset();
    }
  }
  const at::Tensor got = norm_act(x, norm, training, activation, residual);
  got.mul(weighting).sum().backward();
  EXPECT_TRUE(at::allclose(got, want, 1e-12, 1e-12));
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].defined()) {
      EXPECT_TRUE(at::allclose(leaves[i].grad(), gradients[i], 1e-10, 1e-10)) << "leaf " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NormAct,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Activation::kNone, Activation::kRelu,
                                                          Activation::kRelu6, Activation::kSilu),
                                          testing::Bool()));

TEST(NormActState, TrainingMovesRunningStatisticsWithTheUnbiasedVariance) {
  const NormTensors norm = made_norm();
  const at::Tensor mean = norm.running_mean.clone();
  const at::Tensor variance = norm.running_var.clone();
  const at::Tensor x = wave({4, kChannels, 5, 3}, 0.1);
  norm_act(x, norm, /*training=*/true, Activation::kRelu);
  const at::Tensor batch_mean = x.mean({0, 2, 3});
  const at::Tensor squares = x.sub(per_channel(batch_mean)).square().sum({0, 2, 3});
  const double count = 4 * 5 * 3;
  EXPECT_TRUE(at::allclose(norm.running_mean, mean.mul(0.75).add(batch_mean, 0.25), 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(norm.running_var, variance.mul(0.75).add(squares.div(count - 1), 0.25),
                           1e-12, 1e-12));
}

TEST(NormActState, EvaluationAndMissingStatisticsChangeNothing) {
  NormTensors norm = made_norm();
  const at::Tensor mean = norm.running_mean;
  const at::Tensor variance = norm.running_var;
  const at::Tensor mean_before = mean.clone();
  const at::Tensor variance_before = variance.clone();
  const at::Tensor x = wave({4, kChannels, 5, 3}, 0.1);
  norm_act(x, norm, /*training=*/false, Activation::kNone);
  const at::Tensor with_statistics = norm_act(x, made_norm(), true, Activation::kNone);
  norm.running_mean.reset();
  norm.running_var.reset();
  const at::Tensor without = norm_act(x, norm, true, Activation::kNone);
  EXPECT_TRUE(at::equal(mean, mean_before));
  EXPECT_TRUE(at::equal(variance, variance_before));
  EXPECT_TRUE(at::equal(without, with_statistics));
}

TEST(NormActState, LeavesInputAndResidualAloneAndKeepsTheLayout) {
  const at::NoGradGuard no_grad;
  const at::Tensor x = wave({4, kChannels, 5, 3}, 0.1).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor residual =
      wave({4, kChannels, 5, 3}, 0.7).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor x_before = x.clone();
  const at::Tensor residual_before = residual.clone();
  for (const bool training : {false, true}) {
    for (const Activation activation : {Activation::kRelu, Activation::kSilu}) {
      const at::Tensor y = norm_act(x, made_norm(), training, activation, residual);
      EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
      EXPECT_FALSE(y.is_alias_of(x) || y.is_alias_of(residual));
    }
  }
  EXPECT_TRUE(at::equal(x, x_before));
  EXPECT_TRUE(at::equal(residual, residual_before));
}

TEST(NormActState, TakesSixteenBitInputsBesideFloat32Parameters) {
  const at::NoGradGuard no_grad;
  NormTensors norm = made_norm();
  const at::Tensor x = wave({4, kChannels, 5, 3}, 0.1, at::kBFloat16);
  const at::Tensor want = expected(x.to(at::kDouble), norm, true, Activation::kRelu, at::Tensor());
  for (at::Tensor* tensor : {&norm.weight, &norm.bias, &norm.running_mean, &norm.running_var}) {
    *tensor = tensor->to(at::kFloat);
  }
  const at::Tensor got = norm_act(x, norm, true, Activation::kRelu);
  EXPECT_EQ(got.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::allclose(got.to(at::kDouble), want, 1e-2, 1e-2));
}

}  // namespace
}  // namespace falcon::ops
