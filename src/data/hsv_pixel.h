// The arithmetic of data/hsv.h for one pixel, for the host and for the device.
#pragma once

namespace falcon::data {

/// Factors of hue (within one turn), saturation and value (both cut at their largest).
struct HsvGains {
  float hue = 1;  // 0.5 .. 1.5
  float saturation = 1;
  float value = 1;
};

/// Levels: whole numbers 0 .. 255 in; half a level above the result out, so that it can be cut to
/// whole ones.
struct PixelLevels {
  float red, green, blue;
};

[[gnu::always_inline]] constexpr float between_0_and_1(float x) {
  x = x > 0 ? x : 0;
  return x < 1 ? x : 1;
}

[[gnu::always_inline]] constexpr float distance(float a, float b) {
  return a > b ? a - b : b - a;
}

/// Written without branches, so that the compiler makes vector instructions of it. The hue is in
/// sixths of a turn.
[[gnu::always_inline]] constexpr PixelLevels shift_hsv(const HsvGains& gains, float red,
                                                       float green, float blue) {
  const float low_rg = red < green ? red : green;
  const float high_rg = red > green ? red : green;
  const float low = low_rg < blue ? low_rg : blue;
  const float high = high_rg > blue ? high_rg : blue;
  const float range = high - low;
  // Levels are whole, so both divisors are 1 or more unless what they divide is 0 too.
  const float range_divisor = range > 1 ? range : 1;
  const float high_divisor = high > 1 ? high : 1;
  const float inverse = 1 / (range_divisor * high_divisor);
  const float per_range = inverse * high_divisor;
  const float from_red = (green - blue) * per_range;
  const float from_green = 2 + (blue - red) * per_range;
  const float from_blue = 4 + (red - green) * per_range;
  float hue = high == green ? from_green : from_blue;
  hue = high == red ? from_red : hue;
  hue = hue < 0 ? hue + 6 : hue;
  hue = hue * gains.hue;
  hue = hue >= 6 ? hue - 6 : hue;
  float saturation = range * inverse * range_divisor * gains.saturation;
  saturation = saturation < 1 ? saturation : 1;
  float value = high * gains.value;
  value = value < 255 ? value : 255;
  const float chroma = value * saturation;
  const float gray = value - chroma + 0.5F;
  return {gray + chroma * between_0_and_1(distance(hue, 3) - 1),
          gray + chroma * between_0_and_1(2 - distance(hue, 2)),
          gray + chroma * between_0_and_1(2 - distance(hue, 4))};
}

}  // namespace falcon::data
