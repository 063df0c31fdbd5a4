// Hue, saturation and value of pixels multiplied by random gains, as the YOLOv5 recipe does it
// (augment_hsv of utils/augmentations.py, v7.0), computed in float without its 8-bit hue table.
#pragma once
#include <cstddef>
#include <cstdint>

#include "data/resample.h"

namespace falcon::data {

/// Factors of hue (within one turn), saturation and value (both cut at their largest).
struct HsvGains {
  float hue = 1;  // 0.5 .. 1.5
  float saturation = 1;
  float value = 1;
};

/// `count` packed RGB pixels in place. The same bytes with and without AVX2.
void apply_hsv(const HsvGains& gains, std::uint8_t* rgb, std::size_t count,
               bool use_avx2 = has_avx2());

}  // namespace falcon::data
