// The two passes of data/resample.h with AVX2, bit for bit the same; chosen at run time.
#pragma once
#include <cstddef>
#include <cstdint>

#include "data/resample.h"

namespace falcon::data {

/// What one output row is made of: `count` source rows and their weights.
struct ColumnTaps {
  const std::int32_t* weights = nullptr;
  int count = 0;
  const std::uint8_t* rows = nullptr;
  std::size_t row_stride = 0;
};

// Both REQUIRE has_avx2().
void row_avx2(const AxisWeights& axis, const std::uint8_t* rgbx, std::uint8_t* rgb);
/// Does as many of the row's bytes as fill whole registers and returns how many that are.
std::size_t column_avx2(const ColumnTaps& taps, std::size_t row_bytes, std::uint8_t* out);

}  // namespace falcon::data
