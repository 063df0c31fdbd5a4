// What the host and the device both know of data/tiles.h and data/bilinear.h.
#pragma once
#include <cstdint>

namespace falcon::data {

/// LinearAxis: the two weights of a pixel add up to kWeightOne; an axis as numbers has the place of
/// the nearer source pixel times kPlaceFactor plus the weight of the one behind it.
inline constexpr int kWeightOne = 2048;
inline constexpr int kPlaceFactor = 4096;

inline constexpr int kTiles = 4;        // of a sample, at most
inline constexpr int kSourceShare = 2;  // room for source pixels, times those of the picture

/// A rectangle of the picture and the pixels that it is made of.
struct TileRecord {
  std::int32_t left = 0;
  std::int32_t top = 0;
  std::int32_t columns = 0;  // 0: there is no such tile
  std::int32_t lines = 0;
  std::int32_t first_pixel = 0;  // of the sample's pixels
  std::int32_t row_pixels = 0;   // of the source
};

}  // namespace falcon::data
