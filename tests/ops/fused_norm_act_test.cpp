// The fused GPU norm_act against its ATen twin in float64: values, gradients, running statistics.
#include "ops/fused_norm_act.h"

#include <string>
#include <tuple>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

namespace falcon::ops {
namespace {

struct Case {
  std::vector<std::int64_t> shape;
  at::ScalarType type;
  Activation activation;
  bool residual;
};

struct Result {
  at::Tensor y, dx, dresidual, dweight, dbias, running_mean, running_var;
};

NormTensors norm_for(std::int64_t channels, at::TensorOptions options) {
  NormTensors norm;
  norm.weight = (at::randn({channels}, options) * 0.2 + 1.0).set_requires_grad(true);
  norm.bias = (at::randn({channels}, options) * 0.2).set_requires_grad(true);
  norm.running_mean = at::randn({channels}, options) * 0.1;
  norm.running_var = at::randn({channels}, options).abs() + 0.5;
  return norm;
}

NormTensors widened(const NormTensors& norm) {
  NormTensors wide = norm;
  wide.weight = norm.weight.detach().to(at::kDouble).set_requires_grad(true);
  wide.bias = norm.bias.detach().to(at::kDouble).set_requires_grad(true);
  wide.running_mean = norm.running_mean.to(at::kDouble);
  wide.running_var = norm.running_var.to(at::kDouble);
  wide.fused = false;
  return wide;
}

Result run(const at::Tensor& x_in, const at::Tensor& residual_in, const at::Tensor& dy,
           const NormTensors& norm, Activation activation) {
  at::Tensor x = x_in.detach().set_requires_grad(true), residual;
  if (residual_in.defined()) residual = residual_in.detach().set_requires_grad(true);
  const at::Tensor y = norm_act(x, norm, true, activation, residual);
  y.backward(dy);
  return {y.detach(),         x.grad(),         residual.defined() ? residual.grad() : at::Tensor(),
          norm.weight.grad(), norm.bias.grad(), norm.running_mean,
          norm.running_var};
}

double relative_error(const at::Tensor& got, const at::Tensor& want) {
  const at::Tensor difference = got.to(at::kDouble) - want;
  return (difference.norm() / want.norm()).item<double>();
}

class FusedNormAct : public testing::TestWithParam<Case> {};

TEST_P(FusedNormAct, EqualsTheTwinInDouble) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  const Case& c = GetParam();
  const at::TensorOptions floats = at::TensorOptions(at::kCUDA).dtype(at::kFloat);
  const auto image = [&](double scale, double offset) {
    return (at::randn(c.shape, floats) * scale + offset)
        .to(c.type)
        .contiguous(at::MemoryFormat::ChannelsLast);
  };
  const at::Tensor x = image(2.0, 3.0), dy = image(1.0, 0.1);
  const at::Tensor residual = c.residual ? image(1.0, 0.0) : at::Tensor();
  const NormTensors norm = norm_for(c.shape[1], floats);
  const NormTensors twin = widened(norm);
  ASSERT_TRUE(fused_norm_act_applies(x, norm, true, residual));
  const at::Tensor wide_residual = c.residual ? residual.to(at::kDouble) : at::Tensor();
  const Result want = run(x.to(at::kDouble), wide_residual, dy.to(at::kDouble), twin, c.activation);
  for (int repeat = 0; repeat < 2;
       ++repeat) {  // the second time with the tickets the first one left
    NormTensors fresh = norm_for(c.shape[1], floats);
    fresh.weight = norm.weight.detach().clone().set_requires_grad(true);
    fresh.bias = norm.bias.detach().clone().set_requires_grad(true);
    fresh.running_mean = norm.running_mean.clone();
    fresh.running_var = norm.running_var.clone();
    fresh.tickets = norm.tickets;
    const Result got = run(x, residual, dy, fresh, c.activation);
    norm.tickets = fresh.tickets;
    const double unit = c.type == at::kFloat ? 1e-5 : c.type == at::kHalf ? 2e-3 : 1e-2;
    EXPECT_LT(relative_error(got.y, want.y), unit);
    // where the activation passes turns on the last bit of values next to its corners: one such
    // element of a large float32 tensor is more than all rounding
    const bool has_corners = c.type == at::kFloat && (c.activation == Activation::kRelu ||
                                                      c.activation == Activation::kRelu6);
    EXPECT_LT(relative_error(got.dx, want.dx), has_corners ? 1e-3 : 3 * unit);
    if (c.residual) {
      EXPECT_LT(relative_error(got.dresidual, want.dresidual), 3 * unit);
    }
    EXPECT_LT(relative_error(got.dweight, want.dweight), 3 * unit);
    EXPECT_LT(relative_error(got.dbias, want.dbias), 3 * unit);
    EXPECT_LT(relative_error(got.running_mean, want.running_mean), 1e-5);
    EXPECT_LT(relative_error(got.running_var, want.running_var), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FusedNormAct,
    testing::Values(Case{{8, 64, 28, 28}, at::kHalf, Activation::kRelu, false},
                    Case{{8, 64, 28, 28}, at::kHalf, Activation::kRelu, true},
                    Case{{8, 256, 14, 14}, at::kBFloat16, Activation::kRelu, true},
                    Case{{4, 2048, 7, 7}, at::kHalf, Activation::kRelu, true},
                    Case{{4, 24, 56, 56}, at::kHalf, Activation::kNone, true},
                    Case{{2, 144, 56, 56}, at::kHalf, Activation::kRelu6, false},
                    Case{{3, 960, 7, 7}, at::kBFloat16, Activation::kRelu6, false},
                    Case{{1, 16, 3, 5}, at::kHalf, Activation::kRelu6, false},
                    Case{{4, 8, 3, 2}, at::kFloat, Activation::kNone, false},
                    Case{{16, 32, 112, 112}, at::kFloat, Activation::kRelu6, false},
                    Case{{8, 1280, 7, 7}, at::kFloat, Activation::kRelu, true},
                    Case{{5, 136, 9, 11}, at::kHalf, Activation::kRelu, false},
                    Case{{2, 64, 80, 80}, at::kHalf, Activation::kSilu, false},
                    Case{{2, 32, 80, 48}, at::kHalf, Activation::kSilu, true},
                    Case{{4, 256, 20, 20}, at::kBFloat16, Activation::kSilu, true},
                    Case{{3, 1280, 5, 7}, at::kBFloat16, Activation::kSilu, false},
                    Case{{2, 48, 31, 17}, at::kFloat, Activation::kSilu, true},
                    Case{{1, 8, 3, 5}, at::kFloat, Activation::kSilu, false}));

TEST(FusedNormActApplies, NotToOtherLayoutsTypesOrChannels) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  const at::TensorOptions floats = at::TensorOptions(at::kCUDA).dtype(at::kFloat);
  const NormTensors norm = norm_for(64, floats);
  const at::Tensor plain = at::randn({2, 64, 8, 8}, floats);
  const at::Tensor last = plain.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(fused_norm_act_applies(last, norm, true, {}));
  EXPECT_FALSE(fused_norm_act_applies(plain, norm, true, {}));
  EXPECT_FALSE(fused_norm_act_applies(last, norm, false, {}));
  EXPECT_FALSE(fused_norm_act_applies(last.to(at::kDouble), norm, true, {}));
  const at::Tensor odd =
      at::randn({2, 35, 8, 8}, floats).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_FALSE(fused_norm_act_applies(odd, norm_for(35, floats), true, {}));
}

}  // namespace
}  // namespace falcon::ops
