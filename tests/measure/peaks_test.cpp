#include "measure/peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace falcon::measure {
namespace {

TEST(Peaks, AreDenseFiguresOfTheDataSheet) {
  EXPECT_DOUBLE_EQ(peak("NVIDIA A100-SXM4-80GB", MathMode::kBf16).value->flops_per_s, 312e12);
  EXPECT_DOUBLE_EQ(peak("NVIDIA A100 80GB PCIe", MathMode::kTf32).value->flops_per_s, 156e12);
  EXPECT_DOUBLE_EQ(peak("NVIDIA H200", MathMode::kFp16).value->flops_per_s, 989.5e12);
  EXPECT_DOUBLE_EQ(peak("NVIDIA H100 PCIe", MathMode::kFp32).value->flops_per_s, 51e12);
  EXPECT_DOUBLE_EQ(peak("Tesla V100-PCIE-16GB", MathMode::kFp16).value->flops_per_s, 112e12);
  EXPECT_THAT(peak("NVIDIA H200 NVL", MathMode::kFp16).value->source, testing::HasSubstr("H200"));
}

TEST(Peaks, AnUnknownGpuOrModeHasAReasonAndNoGuess) {
  EXPECT_EQ(peak("NVIDIA H300", MathMode::kFp16).reason,
            "no data sheet peak is known for NVIDIA H300");
  EXPECT_FALSE(peak("NVIDIA A100", MathMode::kFp16).has_value());
  EXPECT_FALSE(peak("", MathMode::kFp16).has_value());
  EXPECT_THAT(peak("Tesla V100-SXM2-16GB", MathMode::kBf16).reason,
              testing::HasSubstr("states no peak for this precision"));
  EXPECT_FALSE(peak("Tesla V100-SXM2-16GB", MathMode::kTf32).has_value());
}

}  // namespace
}  // namespace falcon::measure
