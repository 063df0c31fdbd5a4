// A training sample of detection whose picture the training device draws (ops/draw_tiles.h): the
// pixels that are seen of up to four pictures, where they go and how they are resized. Drawn, it is
// the picture that the data set itself would make, to the byte.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/bilinear.h"
#include "data/hsv.h"
#include "data/letterbox.h"
#include "data/mosaic.h"
#include "data/tile_record.h"
#include "falconbench/dataset.h"

namespace falcon::data {

/// The tensors of a sample of S x S pixels:
///   pixels  u8 [kSourceShare * S * S, 3]  RGB; what lies behind the last tile has no meaning
///   tiles   i32 [kTiles, 6]               TileRecord
///   axes    i32 [kTiles, 2, S]            columns and lines as LinearAxis::write() has them
///   gains   f32 [3]                       HsvGains
std::vector<TensorLayout> tile_layout(int image_size);

struct TileTensors {
  std::uint8_t* pixels = nullptr;
  TileRecord* tiles = nullptr;
  std::int32_t* axes = nullptr;
  HsvGains* gains = nullptr;
};

/// Fills those of one sample.
class TileWriter {
 public:
  TileWriter(const TileTensors& tensors, int image_size, const HsvGains& gains);

  /// Adds what a file shows in a window; see BilinearReader::read(). Where the source pixels are
  /// more than what is left of the room, less what the rest of the picture may need, they are
  /// resized here. False when the file is damaged: nothing is added then.
  bool add(BilinearReader& reader, const Placement::Window& window, JpegDecoder::Extent extent,
           const JpegRows* rows);

 private:
  std::uint8_t* next_pixels() const { return tensors_.pixels + 3 * used_pixels_; }

  TileTensors tensors_;
  std::size_t image_size_;
  int count_ = 0;
  std::size_t used_pixels_ = 0;
  std::size_t drawn_pixels_ = 0;  // of the picture
  LinearAxis columns_;
  LinearAxis lines_;
};

/// The picture, S * S packed RGB pixels. What is covered by no tile has kPaddingLevel before the
/// gains are applied.
void draw_tiles(const TileTensors& sample, int image_size, std::uint8_t* rgb);

}  // namespace falcon::data
