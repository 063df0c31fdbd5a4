// From a JPEG file to the S x S picture that a network sees: torchvision's RandomResizedCrop
// (training) and Resize + CenterCrop (evaluation), done while decoding so that only what is needed
// is decoded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/counter_random.h"
#include "data/jpeg_decoder.h"
#include "data/resample.h"

namespace falcon::data {

/// torchvision.transforms.RandomResizedCrop.get_params with scale (0.08, 1) and ratio (3/4, 4/3):
/// ten tries, then the largest centred rectangle within the ratios.
PixelRect random_crop(int width, int height, base::CounterRandom& random);

/// How a picture of width x height becomes image_size x image_size.
struct ImageTransform {
  AxisMap horizontal;
  AxisMap vertical;
};
/// The rectangle, resized.
ImageTransform crop_and_resize(const PixelRect& rectangle, int image_size);
/// Shorter side to image_size * 256 / 224 (256 for 224, the longer side rounded down), then the
/// centre (round half to even), as torchvision's Resize and CenterCrop.
ImageTransform evaluation_transform(int width, int height, int image_size);

/// Where every wanted pixel comes from, along both axes.
struct PixelAxes {
  AxisWeights columns;  // horizontal
  AxisWeights lines;    // vertical
};

static_assert(kRowSlack <= RowSink::kSlackBytes);

/// Decodes and resizes; keeps its buffers. One object a thread.
class ImageReader : private RowSink {
 public:
  /// Reads the header. False: see problem().
  bool open(std::span<const std::byte> file) { return decoder_.open(file); }
  int width() const { return decoder_.width(); }
  int height() const { return decoder_.height(); }
  /// Writes packed RGB [out rows, out columns, 3]. False when the file is damaged. REQUIRES: open()
  /// returned true.
  bool read(const ImageTransform& transform, JpegDecoder::Extent extent, std::uint8_t* rgb);
  /// The same for any axes, the rows of the result row_stride bytes apart.
  bool read(const PixelAxes& axes, JpegDecoder::Extent extent, std::uint8_t* rgb,
            std::size_t row_stride);
  const DecodeProblem& problem() const { return decoder_.problem(); }

 private:
  void row(int y, const std::uint8_t* rgbx) override;

  JpegDecoder decoder_;
  PixelAxes own_axes_;
  const PixelAxes* axes_ = nullptr;  // of the read in work
  std::vector<std::uint8_t> rows_;
  std::size_t row_stride_ = 0;
};

}  // namespace falcon::data
