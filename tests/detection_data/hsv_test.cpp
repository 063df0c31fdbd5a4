#include "data/hsv.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/counter_random.h"

namespace falcon::data {
namespace {

std::vector<std::uint8_t> random_pixels(std::size_t count) {
  base::CounterRandom random({9, count});
  std::vector<std::uint8_t> rgb(3 * count);
  for (std::uint8_t& level : rgb) level = static_cast<std::uint8_t>(random.below(256));
  return rgb;
}

struct Hsv {
  double hue;  // degrees
  double saturation;
  double value;
};

// The textbook definition.
Hsv hsv_of(const std::uint8_t* rgb) {
  const double high = std::max({rgb[0], rgb[1], rgb[2]});
  const double range = high - std::min({rgb[0], rgb[1], rgb[2]});
  double hue = 0;
  if (range > 0 && high == rgb[0]) {
    hue = 60 * (rgb[1] - rgb[2]) / range;
  } else if (range > 0 && high == rgb[1]) {
    hue = 120 + 60 * (rgb[2] - rgb[0]) / range;
  } else if (range > 0) {
    hue = 240 + 60 * (rgb[0] - rgb[1]) / range;
  }
  return {hue < 0 ? hue + 360 : hue, high > 0 ? range / high : 0, high};
}

TEST(Hsv, GainsOfOneChangeNothing) {
  const std::vector<std::uint8_t> before = random_pixels(1000);
  std::vector<std::uint8_t> after = before;
  apply_hsv({}, after.data(), 1000);
  EXPECT_EQ(before, after);
}

TEST(Hsv, EachGainChangesItsOwnPart) {
  const std::vector<std::uint8_t> before = random_pixels(500);
  std::vector<std::uint8_t> after = before;
  const HsvGains gains{1.01F, 0.7F, 0.8F};
  apply_hsv(gains, after.data(), 500);
  for (std::size_t i = 0; i < 500; ++i) {
    const Hsv was = hsv_of(&before[3 * i]);
    const Hsv is = hsv_of(&after[3 * i]);
    EXPECT_NEAR(is.value, was.value * 0.8, 0.51);
    const double level_share = 1 / std::max(is.value, 1.0);  // what rounding to levels can change
    EXPECT_NEAR(is.saturation, was.saturation * 0.7, 1.1 * level_share);
    const double turn = std::remainder(is.hue - was.hue * 1.01, 360);
    EXPECT_NEAR(turn, 0, 60 * 1.1 * level_share / std::max(is.saturation, 1e-3)) << i;
  }
}

TEST(Hsv, SaturationAndValueEndAtTheirLargest) {
  std::vector<std::uint8_t> rgb = {200, 100, 50, 0, 0, 0, 90, 90, 90};
  apply_hsv({1, 100, 1}, rgb.data(), 3);
  EXPECT_EQ(rgb[0], 200);
  EXPECT_EQ(rgb[2], 0);
  EXPECT_EQ(rgb[3], 0);
  EXPECT_EQ(rgb[8], 90);  // gray has no saturation to gain
  apply_hsv({1, 1, 10}, rgb.data(), 3);
  EXPECT_EQ(rgb[0], 255);
}

TEST(Hsv, IsTheSameWithoutAvx2) {
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  for (const std::size_t count : {1U, 63U, 64U, 65U, 1000U}) {
    std::vector<std::uint8_t> plain = random_pixels(count);
    std::vector<std::uint8_t> fast = plain;
    apply_hsv({0.99F, 1.4F, 1.2F}, plain.data(), count, false);
    apply_hsv({0.99F, 1.4F, 1.2F}, fast.data(), count, true);
    EXPECT_EQ(plain, fast) << count;
  }
}

}  // namespace
}  // namespace falcon::data
