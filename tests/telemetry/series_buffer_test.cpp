#include "telemetry/series_buffer.h"

#include <gtest/gtest.h>

namespace falcon::telemetry {
namespace {

TEST(SeriesBuffer, KeepsEveryReadingWhileThereIsRoom) {
  SeriesBuffer buffer(4);
  for (int i = 1; i <= 4; ++i) buffer.add(i, 10 * i, 1);
  ASSERT_EQ(buffer.points().size(), 4U);
  EXPECT_EQ(buffer.readings_per_point(), 1);
  EXPECT_DOUBLE_EQ(buffer.points()[2].value(), 30);
}

TEST(SeriesBuffer, NeighboursMergeWhenFull) {
  SeriesBuffer buffer(4);
  for (int i = 1; i <= 7; ++i) buffer.add(i, i, 1);
  ASSERT_EQ(buffer.points().size(), 4U);
  EXPECT_EQ(buffer.readings_per_point(), 2);
  EXPECT_DOUBLE_EQ(buffer.points()[0].value(), 1.5);
  EXPECT_DOUBLE_EQ(buffer.points()[0].t_s, 2);
  EXPECT_DOUBLE_EQ(buffer.points()[2].min, 5);
  EXPECT_DOUBLE_EQ(buffer.points()[2].max, 6);
  EXPECT_DOUBLE_EQ(buffer.points()[3].value(), 7);
}

TEST(SeriesBuffer, MergedMeansAreTimeWeighted) {
  SeriesBuffer buffer(2);
  buffer.add(3, 10, 3);
  buffer.add(4, 50, 1);
  buffer.add(5, 0, 1);
  EXPECT_DOUBLE_EQ(buffer.points()[0].value(), 20);
}

TEST(SeriesBuffer, StaysWithinItsRoomForAnyLengthAndKeepsTheMean) {
  for (const std::size_t room : {2U, 3U, 5U, 8U}) {
    SeriesBuffer buffer(room);
    double sum = 0;
    for (int i = 1; i <= 1000; ++i) {
      buffer.add(i, i % 17, 1);
      sum += i % 17;
      ASSERT_LE(buffer.points().size(), room);
    }
    double weighted = 0;
    double seconds = 0;
    for (const auto& point : buffer.points()) {
      weighted += point.sum;
      seconds += point.weight;
    }
    EXPECT_DOUBLE_EQ(weighted, sum) << room;
    EXPECT_DOUBLE_EQ(seconds, 1000) << room;
    EXPECT_DOUBLE_EQ(buffer.points().back().t_s, 1000) << room;
  }
}

}  // namespace
}  // namespace falcon::telemetry
