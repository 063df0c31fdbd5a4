// Fitting a picture into a rectangle without changing its shape: geometry and boxes of the YOLOv5
// reference (letterbox of utils/augmentations.py, load_image of utils/dataloaders.py, v7.0). Boxes
// are exact numbers; the pixels are at most one level from OpenCV's.
#pragma once
#include <cstdint>

#include "data/image_transform.h"

namespace falcon::data {

/// The level of pixels that belong to no picture.
constexpr std::uint8_t kPaddingLevel = 114;

struct PictureSize {
  int width = 0;
  int height = 0;
  friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

/// Corners in pixels.
struct BoxCorners {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};
/// Centre and size in parts of a picture's width and height.
struct BoxShares {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct LetterboxOptions {
  bool minimal = false;  // the reference's `auto`: only as much padding as a multiple of 32 needs
  bool enlarges = true;  // the reference's `scaleup`
};

struct Letterbox {
  double ratio = 1;
  double pad_x = 0;  // on either side; halves are kept for the boxes
  double pad_y = 0;
  PictureSize inner;  // the picture
  int left = 0;       // of the picture in the result
  int top = 0;
  PictureSize outer;
};
/// Sides are rounded half to even. inner has a side of 0 for a picture that is too narrow; the
/// caller decides.
Letterbox letterbox(const PictureSize& picture, const PictureSize& wanted,
                    const LetterboxOptions& options = {});

/// The way into a square of image_size that the reference's loader takes for evaluation and for
/// training without a mosaic: the longer side becomes image_size (sides cut to whole pixels), the
/// rest is padding. The longer side may come out one pixel short.
struct SquareFit {
  PictureSize resized;
  double ratio = 1;  // of the resize
  Letterbox box;     // of resized in the square; its own ratio is 1
};
/// A side of `resized` is 0 for a picture that is too narrow.
SquareFit fit_square(const PictureSize& picture, int image_size);
/// The size of a picture whose longer side becomes image_size.
PictureSize resized_for(const PictureSize& picture, int image_size);

/// Shares of a picture drawn with `size` at (x, y) -> pixels there.
BoxCorners corners_of(const BoxShares& box, const PictureSize& size, double x, double y);
/// Pixels -> shares of a picture of that size, first cut at its edges less 0.001.
BoxShares shares_of(const BoxCorners& box, const PictureSize& size);
/// Cut at the edges of a picture of that size.
BoxCorners cut(const BoxCorners& box, double width, double height);

}  // namespace falcon::data
