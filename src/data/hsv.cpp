#include "data/hsv.h"

#include <algorithm>

namespace falcon::data {
namespace {

constexpr int kBlock = 64;  // pixels in work at once: planes of floats that stay in the first cache

#define FALCON_INLINE [[gnu::always_inline]] inline

// One channel of the way back: value * (1 - saturation * how far the hue is from the channel's).
// shift: 5 for red, 3 for green, 1 for blue, in sixths of a turn.
FALCON_INLINE float channel_of(float hue, float value, float chroma, float shift) {
  float k = hue + shift;
  k = k >= 6 ? k - 6 : k;
  const float rest = 4 - k;
  float share = k < rest ? k : rest;
  share = share < 1 ? share : 1;
  share = share > 0 ? share : 0;
  return value - chroma * share + 0.5F;
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
    const float per_range = 1 / (range > 1 ? range : 1);  // levels are whole: range is 0 or more
    const float from_red = (green - blue) * per_range;
    const float from_green = 2 + (blue - red) * per_range;
    const float from_blue = 4 + (red - green) * per_range;
    float hue = high == green ? from_green : from_blue;
    hue = high == red ? from_red : hue;
    hue = hue < 0 ? hue + 6 : hue;
    hue = hue * gains.hue;
    hue = hue >= 6 ? hue - 6 : hue;
    float saturation = range / (high > 1 ? high : 1) * gains.saturation;
    saturation = saturation < 1 ? saturation : 1;
    float value = high * gains.value;
    value = value < 255 ? value : 255;
    const float chroma = value * saturation;
    r[i] = channel_of(hue, value, chroma, 5);
    g[i] = channel_of(hue, value, chroma, 3);
    b[i] = channel_of(hue, value, chroma, 1);
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
