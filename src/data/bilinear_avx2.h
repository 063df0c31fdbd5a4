// The two passes of data/bilinear.h with AVX2, bit for bit the same; chosen at run time. Both
// REQUIRE has_avx2() and write up to the next multiple of 8 pixels.
#pragma once
#include <cstdint>

#include "data/bilinear.h"

namespace falcon::data {

void resize_row_avx2(const LinearAxis& axis, const std::uint8_t* rgbx, std::int16_t* row);
/// rgb: 3 bytes a pixel and up to kRowSlack more.
void blend_rows_avx2(const std::int16_t* above, const std::int16_t* below, int weight_above,
                     int weight_below, int pixels, std::uint8_t* rgb);

}  // namespace falcon::data
