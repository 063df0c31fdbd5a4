// The sum over rows by one kernel, against the same in float64.
#include "ops/column_sum.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

namespace falcon::ops {
namespace {

TEST(ColumnSum, EqualsTheSumInDouble) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16, at::kFloat}) {
    for (const auto& [rows, width] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {2304, 1024}, {2304, 4096}, {1, 8}, {300, 40}, {257, 31}, {4608, 768}}) {
      const at::Tensor x = at::randn({rows, width}).to(type).cuda();
      const at::Tensor want = x.to(at::kDouble).sum(0);
      const double rounding = type == at::kHalf ? 1e-3 : type == at::kBFloat16 ? 8e-3 : 1e-5;
      SCOPED_TRACE(c10::toString(type) + std::string(" ") + std::to_string(width));
      const at::Tensor wide = column_sum(x, at::kFloat);
      EXPECT_EQ(wide.scalar_type(), at::kFloat);
      EXPECT_TRUE(at::allclose(wide.to(at::kDouble), want, 1e-5, 1e-3));
      EXPECT_TRUE(at::equal(wide, column_sum(x, at::kFloat))) << "the same bits";
      const at::Tensor own = column_sum(x, type);
      EXPECT_EQ(own.scalar_type(), type);
      EXPECT_TRUE(at::allclose(own.to(at::kDouble), want, rounding, 1e-3));
    }
  }
}

}  // namespace
}  // namespace falcon::ops
