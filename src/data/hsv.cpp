#include "data/hsv.h"

#include <algorithm>
#include <cmath>

namespace falcon::data {
namespace {

constexpr int kBlock = 64;  // pixels in work at once: planes of floats that stay in the first cache

#define FALCON_INLINE [[gnu::always_inline]] inline

FALCON_INLINE float between_0_and_1(float x) {
  x = x > 0 ? x : 0;
  return x < 1 ? x : 1;
}

FALCON_INLINE float distance(float a, float b) {
  return std::abs(a - b);
}

// Written without branches, so that the compiler makes vector instructions of it. Levels are
// 0 .. 255, the hue is in sixths of a turn.
FALCON_INLINE void shift_block(const HsvGains& gains, float* r, float* g, float* b) {
  for (int i = 0; i < kBlock; ++i) {
    const float red = r[i];
    const float green = g[i];
    const float blue = b[i];
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
    const float gray = value - chroma + 0.5F;  // a half: it is cut to whole levels
    r[i] = gray + chroma * between_0_and_1(distance(hue, 3) - 1);
    g[i] = gray + chroma * between_0_and_1(2 - distance(hue, 2));
    b[i] = gray + chroma * between_0_and_1(2 - distance(hue, 4));
  }
}

FALCON_INLINE void shift_pixels(const HsvGains& gains, std::uint8_t* rgb, std::size_t count) {
  alignas(64) float planes[3][kBlock] = {};
  for (std::size_t at = 0; at < count; at += kBlock) {
    const std::size_t pixels = std::min<std::size_t>(kBlock, count - at);
    std::uint8_t* block = rgb + 3 * at;
    for (std::size_t i = 0; i < pixels; ++i) {
      for (std::size_t c = 0; c < 3; ++c) planes[c][i] = block[3 * i + c];
    }
    shift_block(gains, planes[0], planes[1], planes[2]);
    for (std::size_t i = 0; i < pixels; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        block[3 * i + c] = static_cast<std::uint8_t>(static_cast<int>(planes[c][i]));
      }
    }
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void shift_avx2(const HsvGains& gains, std::uint8_t* rgb,
                                        std::size_t count) {
  shift_pixels(gains, rgb, count);
}
#endif

}  // namespace

void apply_hsv(const HsvGains& gains, std::uint8_t* rgb, std::size_t count,
               [[maybe_unused]] bool use_avx2) {
#if defined(__x86_64__)
  if (use_avx2) return shift_avx2(gains, rgb, count);
#endif
  shift_pixels(gains, rgb, count);
}

}  // namespace falcon::data
