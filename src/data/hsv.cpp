#include "data/hsv.h"

#include <algorithm>

namespace falcon::data {
namespace {

constexpr int kBlock = 64;  // pixels in work at once: planes of floats that stay in the first cache

#define FALCON_INLINE [[gnu::always_inline]] inline

FALCON_INLINE void shift_block(const HsvGains& gains, float* r, float* g, float* b) {
  for (int i = 0; i < kBlock; ++i) {
    const PixelLevels levels = shift_hsv(gains, r[i], g[i], b[i]);
    r[i] = levels.red;
    g[i] = levels.green;
    b[i] = levels.blue;
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
