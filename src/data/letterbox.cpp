#include "data/letterbox.h"

#include <algorithm>
#include <cmath>

namespace falcon::data {
namespace {

constexpr int kLargestStride = 32;  // of the network
constexpr double kEdgeGap = 1e-3;   // boxes end this far inside the edge

// Python's round().
int round_half_even(double x) {
  return static_cast<int>(std::nearbyint(x));
}

}  // namespace

Letterbox letterbox(const PictureSize& picture, const PictureSize& wanted,
                    const LetterboxOptions& options) {
  Letterbox result;
  result.ratio = std::min(static_cast<double>(wanted.height) / picture.height,
                          static_cast<double>(wanted.width) / picture.width);
  if (!options.enlarges) result.ratio = std::min(result.ratio, 1.0);
  result.inner = {round_half_even(picture.width * result.ratio),
                  round_half_even(picture.height * result.ratio)};
  int missing_x = wanted.width - result.inner.width;
  int missing_y = wanted.height - result.inner.height;
  if (options.minimal) {
    missing_x %= kLargestStride;
    missing_y %= kLargestStride;
  }
  result.pad_x = missing_x / 2.0;
  result.pad_y = missing_y / 2.0;
  result.left = round_half_even(result.pad_x - 0.1);
  result.top = round_half_even(result.pad_y - 0.1);
  result.outer = {result.inner.width + missing_x, result.inner.height + missing_y};
  return result;
}

PictureSize resized_for(const PictureSize& picture, int image_size) {
  const double ratio = static_cast<double>(image_size) / std::max(picture.width, picture.height);
  return {static_cast<int>(picture.width * ratio), static_cast<int>(picture.height * ratio)};
}

SquareFit fit_square(const PictureSize& picture, int image_size) {
  SquareFit fit;
  fit.ratio = static_cast<double>(image_size) / std::max(picture.width, picture.height);
  fit.resized = resized_for(picture, image_size);
  if (fit.resized.width > 0 && fit.resized.height > 0) {
    fit.box = letterbox(fit.resized, {image_size, image_size}, {.enlarges = false});
  }
  return fit;
}

BoxCorners corners_of(const BoxShares& box, const PictureSize& size, double x, double y) {
  return {size.width * (box.x - box.width / 2) + x, size.height * (box.y - box.height / 2) + y,
          size.width * (box.x + box.width / 2) + x, size.height * (box.y + box.height / 2) + y};
}

BoxCorners cut(const BoxCorners& box, double width, double height) {
  return {std::clamp(box.left, 0.0, width), std::clamp(box.top, 0.0, height),
          std::clamp(box.right, 0.0, width), std::clamp(box.bottom, 0.0, height)};
}

BoxShares shares_of(const BoxCorners& box, const PictureSize& size) {
  const BoxCorners inside = cut(box, size.width - kEdgeGap, size.height - kEdgeGap);
  return {(inside.left + inside.right) / 2 / size.width,
          (inside.top + inside.bottom) / 2 / size.height, inside.width() / size.width,
          inside.height() / size.height};
}

}  // namespace falcon::data
