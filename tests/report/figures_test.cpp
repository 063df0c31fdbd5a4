#include "report/figures.h"

#include <gtest/gtest.h>

namespace falcon::report {
namespace {

TEST(Figures, KeepThreeToFiveDigitsAndNoExponent) {
  EXPECT_EQ(figure(0), "0");
  EXPECT_EQ(figure(12345.6), "12346");
  EXPECT_EQ(figure(123.45), "123.5");
  EXPECT_EQ(figure(12.345), "12.35");
  EXPECT_EQ(figure(1.2345), "1.234");
  EXPECT_EQ(figure(0.012345), "0.0123");
  EXPECT_EQ(figure(-0.5), "-0.500");
  EXPECT_EQ(figure(1e-300), "0.000000000000");
  EXPECT_EQ(figure(1e22), "10000000000000000000000");
  EXPECT_EQ(percent(0.1234), "12.3 %");
}

TEST(Figures, BytesAndCountsScaleByThousands) {
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(3e9), "3.000 GB");
  EXPECT_EQ(count_text(3504872), "3.505 M");
  EXPECT_EQ(count_text(12), "12");
}

}  // namespace
}  // namespace falcon::report
