// The kernels that turn a batch of pictures into a model's input, as raw pointers.
#pragma once
#include <cstdint>

#include "data/hsv_pixel.h"
#include "data/tile_record.h"
#include "ops/cuda/element.h"

struct CUstream_st;

namespace falcon::ops::cuda {

/// The picture width must be divisible by this.
inline constexpr std::int64_t kPixelsAtOnce = 4;

/// Where the pictures go: levels / 255, less the mean, by the standard deviation.
struct PictureOutput {
  void* out = nullptr;  // [count, 3, height, width] in either layout
  std::int64_t count = 0, height = 0, width = 0;
  float mean[3] = {};
  float stddev[3] = {};
  bool channels_last = false;
};

/// ops/image_prepare.h.
struct ImagePrepare {
  const std::uint8_t* images = nullptr;  // [count, height, width, 3]
  const std::uint8_t* flip = nullptr;    // [count], or nullptr
  PictureOutput to;
};
void prepare_images(const ImagePrepare& job, Element element, CUstream_st* stream);

/// ops/draw_tiles.h. Height and width of the output are the side of the picture.
struct TileDraw {
  const std::uint8_t* pixels = nullptr;     // [count, sample_pixels, 3]
  const data::TileRecord* tiles = nullptr;  // [count, data::kTiles]
  const std::int32_t* axes = nullptr;       // [count, data::kTiles, 2, side]
  const data::HsvGains* gains = nullptr;    // [count]
  std::int64_t sample_pixels = 0;
  int padding = 0;  // level where no tile is
  PictureOutput to;
};
void draw_tiles(const TileDraw& job, Element element, CUstream_st* stream);

}  // namespace falcon::ops::cuda
