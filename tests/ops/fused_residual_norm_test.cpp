// The fused GPU layer_norm with a residual against its ATen twin in float64: values, gradients, and
// what dropout drops.
#include "ops/fused_residual_norm.h"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

namespace falcon::ops {
namespace {

struct Case {
  std::int64_t rows, width;
  at::ScalarType type;
  double dropout;
};

at::TensorOptions floats() {
  return at::TensorOptions(at::kCUDA).dtype(at::kFloat);
}

LayerNormTensors norm_for(std::int64_t width) {
  LayerNormTensors norm;
  norm.weight = (at::randn({width}, floats()) * 0.2 + 1.0).set_requires_grad(true);
  norm.bias = (at::randn({width}, floats()) * 0.2).set_requires_grad(true);
  return norm;
}

struct Result {
  at::Tensor y, dx, dresidual, dweight, dbias;
};

Result run(const at::Tensor& x_in, const at::Tensor& residual_in, const at::Tensor& dy,
           const LayerNormTensors& norm, double dropout) {
  const at::Tensor x = x_in.detach().clone().set_requires_grad(true);
  const at::Tensor residual = residual_in.detach().clone().set_requires_grad(true);
  norm.weight.mutable_grad().reset();
  norm.bias.mutable_grad().reset();
  const at::Tensor y = layer_norm(x, norm, residual, dropout, /*training=*/true);
  y.backward(dy);
  return {y.detach(), x.grad(), residual.grad(), norm.weight.grad(), norm.bias.grad()};
}

double relative_error(const at::Tensor& got, const at::Tensor& want) {
  return ((got.to(at::kDouble) - want).norm() / want.norm()).item<double>();
}

class FusedResidualNorm : public testing::TestWithParam<Case> {};

TEST_P(FusedResidualNorm, EqualsTheTwinInDouble) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  const Case& c = GetParam();
  const auto rows = [&](double scale, double offset) {
    return (at::randn({c.rows, c.width}, floats()) * scale + offset).to(c.type);
  };
  const at::Tensor x = rows(1.0, 0.5), residual = rows(2.0, -1.0), dy = rows(1.0, 0.1);
  const LayerNormTensors norm = norm_for(c.width);
  ASSERT_TRUE(fused_residual_norm_applies(x, norm, residual));
  const Result got = run(x, residual, dy, norm, c.dropout);
  // an element that was dropped has no gradient
  const at::Tensor kept = got.dx.ne(0).to(at::kDouble);
  EXPECT_NEAR(1 - kept.mean().item<double>(), c.dropout, 0.02);
  LayerNormTensors twin = norm;
  twin.weight = norm.weight.detach().to(at::kDouble).set_requires_grad(true);
  twin.bias = norm.bias.detach().to(at::kDouble).set_requires_grad(true);
  const at::Tensor dropped = x.to(at::kDouble) * kept / (1 - c.dropout);
  Result want = run(dropped, residual.to(at::kDouble), dy.to(at::kDouble), twin, 0);
  want.dx = want.dx * kept / (1 - c.dropout);
  const double unit = c.type == at::kFloat ? 1e-5 : c.type == at::kHalf ? 2e-3 : 1.5e-2;
  EXPECT_LT(relative_error(got.y, want.y), unit);
  EXPECT_LT(relative_error(got.dx, want.dx), 3 * unit);
  EXPECT_LT(relative_error(got.dresidual, want.dresidual), 3 * unit);
  EXPECT_LT(relative_error(got.dweight, want.dweight), 3 * unit);
  EXPECT_LT(relative_error(got.dbias, want.dbias), 3 * unit);
}

// Dropout probabilities are multiples of 2^-16 here: the twin's are then the same.
INSTANTIATE_TEST_SUITE_P(
    Shapes, FusedResidualNorm,
    testing::Values(Case{4096, 768, at::kHalf, 0.125}, Case{4096, 1024, at::kHalf, 0.125},
                    Case{1000, 1024, at::kBFloat16, 0.25}, Case{1001, 384, at::kHalf, 0},
                    Case{999, 256, at::kFloat, 0.5}, Case{777, 1000, at::kFloat, 0},
                    Case{3000, 8, at::kHalf, 0.125}, Case{3, 520, at::kBFloat16, 0}));

TEST(FusedResidualNormDropout, FollowsTheGenerator) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  const at::Tensor x = at::randn({64, 256}, floats()), residual = at::randn({64, 256}, floats());
  const LayerNormTensors norm = norm_for(256);
  at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator();
  generator.set_current_seed(11);
  const at::Tensor first = fused_residual_norm(x, norm, residual, 0.5);
  const at::Tensor second = fused_residual_norm(x, norm, residual, 0.5);
  EXPECT_FALSE(at::equal(first, second));
  generator.set_current_seed(11);
  EXPECT_TRUE(at::equal(fused_residual_norm(x, norm, residual, 0.5), first));
}

TEST(FusedResidualNormApplies, NotWithoutResidualToOtherTypesOrWidths) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  const at::Tensor x = at::randn({4, 64}, floats());
  const LayerNormTensors norm = norm_for(64);
  EXPECT_TRUE(fused_residual_norm_applies(x, norm, x));
  EXPECT_FALSE(fused_residual_norm_applies(x, norm, {}));
  EXPECT_FALSE(fused_residual_norm_applies(x.to(at::kDouble), norm, x));
  EXPECT_FALSE(fused_residual_norm_applies(x.cpu(), norm, x.cpu()));
  const at::Tensor odd = at::randn({4, 60}, floats()), wide = at::randn({4, 2048}, floats());
  EXPECT_FALSE(fused_residual_norm_applies(odd, norm_for(60), odd));
  EXPECT_FALSE(fused_residual_norm_applies(wide, norm_for(2048), wide));
}

}  // namespace
}  // namespace falcon::ops
