#include "measure/intervals.h"

#include <gtest/gtest.h>

namespace falcon::measure {
namespace {

TEST(Intervals, OverlappingPartsCountOnce) {
  EXPECT_DOUBLE_EQ(covered({{1, 3}, {2, 4}, {6, 7}}, {0, 10}), 4);
  EXPECT_DOUBLE_EQ(covered({{6, 7}, {1, 9}, {2, 3}}, {0, 10}), 8);
}

TEST(Intervals, OnlyWhatLiesInTheWindowCounts) {
  EXPECT_DOUBLE_EQ(covered({{-5, 1}, {2, 3}, {9, 20}}, {0, 10}), 3);
  EXPECT_DOUBLE_EQ(covered({{-5, -1}, {10, 20}}, {0, 10}), 0);
  EXPECT_DOUBLE_EQ(covered({{-5, 20}}, {0, 10}), 10);
  EXPECT_DOUBLE_EQ(covered({}, {0, 10}), 0);
}

}  // namespace
}  // namespace falcon::measure
