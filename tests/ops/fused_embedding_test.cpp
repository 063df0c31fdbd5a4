// The embedding of tokens by kernels of its own, against the plain form.
#include "ops/fused_embedding.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/where.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

namespace falcon::ops {
namespace {

constexpr std::int64_t kWords = 1000, kTypes = 2, kPositions = 64;

EmbeddingTables tables_of(std::int64_t width, bool fused) {
  at::manual_seed(3);
  const auto table = [&](std::int64_t rows) {
    return at::randn({rows, width}).cuda().requires_grad_();
  };
  return {table(kWords), table(kTypes), table(kPositions), /*padding_index=*/0, fused};
}

/// Words as in a text: half of them are few.
at::Tensor text(std::int64_t batch, std::int64_t length, at::ScalarType type) {
  const at::Tensor ids = at::randint(0, kWords, {batch, length});
  const at::Tensor few = at::randint(0, 3, {batch, length});
  return at::where(at::randint(0, 2, {batch, length}).eq(0), ids, few).to(type).cuda();
}

struct Shape {
  std::int64_t batch, length, width;
};

TEST(FusedEmbedding, EqualsThePlainFormAndItselfToTheBit) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  // the last has more tokens than look for their like
  for (const Shape& shape : {Shape{6, 64, 1024}, Shape{3, 50, 768}, Shape{1, 1, 4},
                             Shape{7, 33, 20}, Shape{300, 64, 128}}) {
    for (const at::ScalarType type : {at::kInt, at::kLong}) {
      SCOPED_TRACE(shape.batch * shape.length);
      EmbeddingTables fused = tables_of(shape.width, true);
      EmbeddingTables plain = tables_of(shape.width, false);
      EmbeddingTables again = tables_of(shape.width, true);
      const at::Tensor ids = text(shape.batch, shape.length, type);
      const at::Tensor types = at::randint(0, kTypes, ids.sizes()).to(type).cuda();
      ASSERT_TRUE(fused_embedding_applies(fused, ids));
      const at::Tensor weights = at::randn({ids.numel(), shape.width}).cuda();
      const at::Tensor sum = embedding(fused, ids, types);
      EXPECT_TRUE(at::equal(sum, embedding(plain, ids, types)));
      for (const EmbeddingTables* tables : {&fused, &plain, &again}) {
        (embedding(*tables, ids, types) * weights).sum().backward();
      }
      const auto check = [&](const at::Tensor& got, const at::Tensor& want,
                             const at::Tensor& same) {
        EXPECT_TRUE(at::allclose(got.grad(), want.grad(), 1e-5, 1e-3));
        EXPECT_TRUE(at::equal(got.grad(), same.grad()));
      };
      check(fused.words, plain.words, again.words);
      check(fused.types, plain.types, again.types);
      check(fused.positions, plain.positions, again.positions);
      EXPECT_EQ(fused.words.grad()[0].abs().max().item<float>(), 0) << "padding";
    }
  }
}

TEST(FusedEmbedding, LeavesOtherTypesAndDevicesToThePlainForm) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  EmbeddingTables tables = tables_of(8, true);
  const at::Tensor ids = text(2, 3, at::kLong);
  tables.words = tables.words.to(at::kHalf);
  EXPECT_FALSE(fused_embedding_applies(tables, ids));
  tables.words = at::randn({kWords, 8});
  EXPECT_FALSE(fused_embedding_applies(tables, ids.cpu()));
  EXPECT_FALSE(fused_embedding_applies(tables_of(6, true), ids)) << "rows of 24 bytes";
}

}  // namespace
}  // namespace falcon::ops
