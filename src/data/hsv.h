// Hue, saturation and value of pixels multiplied by random gains, as the YOLOv5 recipe does it
// (augment_hsv of utils/augmentations.py, v7.0), computed in float without its 8-bit hue table.
#pragma once
#include <cstddef>
#include <cstdint>

#include "data/hsv_pixel.h"
#include "data/resample.h"

namespace falcon::data {

/// `count` packed RGB pixels in place. The same bytes with and without AVX2.
void apply_hsv(const HsvGains& gains, std::uint8_t* rgb, std::size_t count,
               bool use_avx2 = has_avx2());

}  // namespace falcon::data
