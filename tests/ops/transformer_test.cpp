// The operators of the encoder against their definitions, in values and gradients.
#include "ops/transformer.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/basic.h"

namespace falcon::ops {
namespace {

at::Tensor leaf(at::IntArrayRef shape, at::ScalarType type = at::kDouble) {
  return at::randn(shape, type).requires_grad_(true);
}

/// The gradients of the leaves for the same gradient of either result.
void expect_same(const at::Tensor& got, const at::Tensor& want,
                 const std::vector<at::Tensor>& leaves, double tolerance = 1e-12) {
  ASSERT_EQ(got.sizes(), want.sizes());
  EXPECT_TRUE(at::allclose(got, want, tolerance, tolerance));
  const at::Tensor seed = at::randn(got.sizes(), got.scalar_type());
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& result : {got, want}) {
    for (const at::Tensor& each : leaves) each.mutable_grad().reset();
    result.backward(seed);
    for (const at::Tensor& each : leaves) gradients.push_back(each.grad().clone());
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_TRUE(at::allclose(gradients[i], gradients[i + leaves.size()], tolerance, tolerance))
        << "leaf " << i;
  }
}

struct AutocastToBfloat16 {
  AutocastToBfloat16() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  AutocastToBfloat16(const AutocastToBfloat16&) = delete;
  AutocastToBfloat16& operator=(const AutocastToBfloat16&) = delete;
  ~AutocastToBfloat16() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
  }
};

TEST(Dense, OfSeveralWeightsIsTheirProductsSideBySide) {
  const at::Tensor x = leaf({7, 5});
  const std::vector<at::Tensor> weights{leaf({3, 5}), leaf({2, 5}), leaf({4, 5})};
  const std::vector<at::Tensor> biases{leaf({3}), leaf({2}), leaf({4})};
  std::vector<at::Tensor> parts;
  std::vector<at::Tensor> leaves{x};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts.push_back(at::linear(x, weights[i], biases[i]));
    leaves.push_back(weights[i]);
    leaves.push_back(biases[i]);
  }
  expect_same(dense(x, weights, biases), at::cat(parts, 1), leaves);
}

TEST(Dense, OfOneWeightIsALinearLayer) {
  const at::Tensor x = leaf({7, 5}), weight = leaf({3, 5}), bias = leaf({3});
  expect_same(dense(x, {weight}, {bias}), at::linear(x, weight, bias), {x, weight, bias});
}

TEST(Dense, BranchAddsTheGradientsOfBothUses) {
  const at::Tensor x = leaf({7, 5}), weight = leaf({5, 5}), bias = leaf({5});
  const at::Tensor y = at::linear(x, weight, bias);
  const DenseBranch branch = branched_dense(x, {weight}, {bias});
  EXPECT_TRUE(at::equal(branch.x, x));
  expect_same(branch.y * branch.y + at::sin(branch.x), y * y + at::sin(x), {x, weight, bias});
  // one gradient for both uses, which must not be written over while it is still to be read
  const DenseBranch shared = branched_dense(x, {weight}, {bias});
  expect_same(shared.x + shared.y, x + at::linear(x, weight, bias), {x, weight, bias});
  // one use only, be it this one or that
  const DenseBranch unused = branched_dense(x, {weight}, {bias});
  expect_same(unused.y, at::linear(x, weight, bias), {x, weight, bias});
  const DenseBranch passed = branched_dense(x, {weight}, {bias});
  expect_same(passed.x * x, x * x, {x});
}

TEST(Dense, BranchOfAnotherTypeThanTheProduct) {
  const at::Tensor x = leaf({16, 8}, at::kFloat), weight = leaf({8, 8}, at::kFloat);
  const at::Tensor bias = leaf({8}, at::kFloat);
  const AutocastToBfloat16 autocast;
  const DenseBranch branch = branched_dense(x, {weight}, {bias});
  EXPECT_EQ(branch.y.scalar_type(), at::kBFloat16);
  EXPECT_EQ(branch.x.scalar_type(), at::kFloat);
  const at::Tensor y = at::linear(x, weight, bias);
  expect_same(branch.x * 3 + branch.y, x * 3 + y, {x, weight, bias}, 0.05);
}

TEST(LayerNorm, AddsTheResidualAndNormalisesRows) {
  const at::Tensor x = leaf({6, 8}), residual = leaf({6, 8}), weight = leaf({8}), bias = leaf({8});
  const LayerNormTensors norm{weight, bias, 1e-3};
  const auto plain = [&](const at::Tensor& y) {
    const at::Tensor centred = y - y.mean(1, true);
    return centred / (centred.square().mean(1, true) + 1e-3).sqrt() * weight + bias;
  };
  expect_same(layer_norm(x, norm), plain(x), {x, weight, bias}, 1e-10);
  expect_same(layer_norm(x, norm, residual), plain(residual + x), {x, residual, weight, bias},
              1e-10);
}

TEST(LayerNorm, DropsOfXButNotOfTheResidualAndInTrainingOnly) {
  const at::Tensor x = at::randn({200, 8}), residual = at::randn({200, 8});
  const LayerNormTensors norm{at::randn({8}), at::randn({8})};
  EXPECT_TRUE(at::equal(layer_norm(x, norm, residual, 0.5, false), layer_norm(x, norm, residual)));
  EXPECT_FALSE(
      at::allclose(layer_norm(x, norm, residual, 0.5, true), layer_norm(x, norm, residual)));
  // all of x dropped but for one element in ten thousand: the residual is what remains
  const at::Tensor rest = layer_norm(x, norm, residual, 0.9999, true);
  const at::Tensor same = (rest - layer_norm(residual, norm)).abs().amax(1).lt(1e-5);
  EXPECT_GT(same.to(at::kDouble).mean().item<double>(), 0.95);
}

TEST(Gelu, IsTheExactOne) {
  const at::Tensor x = at::arange(-4, 4, 0.25, at::kDouble);
  const at::Tensor expected = x * (1 + at::erf(x / std::sqrt(2.0))) / 2;
  EXPECT_TRUE(at::allclose(ops::gelu(x), expected, 1e-12, 1e-12));
}

TEST(Embedding, AddsRowsOfThreeTablesAndSparesThePaddingRow) {
  ops::EmbeddingTables tables{leaf({5, 3}), leaf({2, 3}), leaf({4, 3}), /*padding_index=*/0};
  const at::Tensor ids = at::tensor({0, 4, 4, 2}, at::kLong).view({2, 2});
  const at::Tensor types = at::tensor({0, 1, 1, 1}, at::kLong).view({2, 2});
  const at::Tensor rows = ops::embedding(tables, ids, types);
  EXPECT_TRUE(at::allclose(rows[2], tables.words[4] + tables.types[1] + tables.positions[0]));
  EXPECT_TRUE(at::equal(ops::embedding(tables, ids.to(at::kInt), types.to(at::kInt)), rows));
  rows.sum().backward();
  const auto counts = [](const at::Tensor& table) { return table.grad().select(1, 0); };
  EXPECT_TRUE(at::equal(counts(tables.words), at::tensor({0, 0, 1, 0, 2}, at::kDouble)));
  EXPECT_TRUE(at::equal(counts(tables.types), at::tensor({1, 3}, at::kDouble)));
  EXPECT_TRUE(at::equal(counts(tables.positions), at::tensor({2, 2, 0, 0}, at::kDouble)));
}

TEST(Attention, IsSoftmaxOverTheKeysThatTheMaskLeaves) {
  constexpr std::int64_t kBatch = 2, kLength = 5, kHeads = 3, kWidth = 4;
  const at::Tensor qkv = leaf({kBatch * kLength, 3 * kHeads * kWidth});
  const at::Tensor mask = at::tensor({1, 1, 1, 1, 1, 1, 1, 0, 1, 0}, at::kLong).view({2, 5});
  const at::Tensor parts = qkv.view({kBatch, kLength, 3, kHeads, kWidth}).permute({2, 0, 3, 1, 4});
  at::Tensor scores = at::matmul(parts[0], parts[1].transpose(2, 3)) / 2.0;  // sqrt(4)
  scores = scores.masked_fill(mask.eq(0).unsqueeze(1).unsqueeze(1), -1e300);
  const at::Tensor plain = at::matmul(at::softmax(scores, -1), parts[2])
                               .transpose(1, 2)
                               .reshape({kBatch * kLength, kHeads * kWidth});
  const AttentionShape shape{kLength, kHeads, 0};
  const at::Tensor bias = key_bias(mask, at::kDouble);
  EXPECT_EQ(bias.sizes(), (std::vector<std::int64_t>{2, 1, 1, 5}));
  expect_same(attention(qkv, bias, shape), plain, {qkv});
  EXPECT_THAT(attention_backend(qkv, bias, shape), testing::AnyOf("math", "flash"));
}

TEST(Attention, OfASampleWithoutAnyKeyIsFinite) {
  const at::Tensor qkv = at::randn({4, 12});
  const at::Tensor bias = key_bias(at::zeros_like(at::randint(2, {1, 4}, at::kLong)), at::kFloat);
  EXPECT_TRUE(attention(qkv, bias, {4, 2, 0}).isfinite().all().item<bool>());
}

TEST(PositionLoss, LeavesOutWhatIsBeyondTheSequence) {
  const at::Tensor logits = at::randn({3, 4}, at::kDouble);
  const at::Tensor inside = at::tensor({1, 0, 3}, at::kLong);
  EXPECT_TRUE(at::allclose(position_loss(logits, inside), cross_entropy(logits, inside)));
  EXPECT_TRUE(at::allclose(position_loss(logits, at::tensor({1, 0, 9}, at::kInt)),
                           cross_entropy(logits.narrow(0, 0, 2), inside.narrow(0, 0, 2))));
  EXPECT_TRUE(at::allclose(position_loss(logits, at::tensor({1, -2, 3}, at::kLong)),
                           cross_entropy(logits, inside)));
  const at::Tensor narrow = position_loss(logits.to(at::kBFloat16), inside);
  EXPECT_EQ(narrow.scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace falcon::ops
