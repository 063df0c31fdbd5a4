#include "data/image_transform.h"

#include <algorithm>
#include <cmath>

namespace falcon::data {
namespace {

constexpr double kMinScale = 0.08;
constexpr double kMaxScale = 1.0;
constexpr double kMinRatio = 3.0 / 4.0;
constexpr double kMaxRatio = 4.0 / 3.0;
constexpr int kTries = 10;

// Python's round().
int round_half_even(double x) {
  return static_cast<int>(std::nearbyint(x));
}

PixelRect largest_centred(int width, int height) {
  const double ratio = static_cast<double>(width) / height;
  PixelRect crop{0, 0, width, height};
  if (ratio < kMinRatio) {
    crop.height = std::clamp(round_half_even(width / kMinRatio), 1, height);
  } else if (ratio > kMaxRatio) {
    crop.width = std::clamp(round_half_even(height * kMaxRatio), 1, width);
  }
  crop.left = (width - crop.width) / 2;
  crop.top = (height - crop.height) / 2;
  return crop;
}

}  // namespace

PixelRect random_crop(int width, int height, base::CounterRandom& random) {
  const double area = static_cast<double>(width) * height;
  for (int i = 0; i < kTries; ++i) {
    const double target = area * random.uniform(kMinScale, kMaxScale);
    const double ratio = std::exp(random.uniform(std::log(kMinRatio), std::log(kMaxRatio)));
    const int w = round_half_even(std::sqrt(target * ratio));
    const int h = round_half_even(std::sqrt(target / ratio));
    if (w < 1 || w > width || h < 1 || h > height) continue;
    const auto below = [&random](int room) {
      return static_cast<int>(random.below(static_cast<std::uint64_t>(room) + 1));
    };
    const int top = below(height - h);
    return {below(width - w), top, w, h};
  }
  return largest_centred(width, height);
}

ImageTransform crop_and_resize(const PixelRect& r, int image_size) {
  return {{r.left, r.width, image_size, 0, image_size},
          {r.top, r.height, image_size, 0, image_size}};
}

ImageTransform evaluation_transform(int width, int height, int image_size) {
  const int shorter = std::max(1, round_half_even(image_size * 256.0 / 224.0));
  const auto axis = [&](int size, int other) {
    const bool is_shorter = size <= other;
    const std::int64_t longer = std::int64_t{shorter} * size / other;
    const int resized = is_shorter ? shorter : static_cast<int>(longer);
    return AxisMap{0, size, resized, round_half_even((resized - image_size) / 2.0), image_size};
  };
  return {axis(width, height), axis(height, width)};
}

bool ImageReader::read(const ImageTransform& transform, JpegDecoder::Extent extent,
                       std::uint8_t* rgb) {
  own_axes_.columns.assign(transform.horizontal);
  own_axes_.lines.assign(transform.vertical);
  return read(own_axes_, extent, rgb, 3 * static_cast<std::size_t>(own_axes_.columns.out_count()));
}

bool ImageReader::read(const PixelAxes& axes, JpegDecoder::Extent extent, std::uint8_t* rgb,
                       std::size_t row_stride) {
  const auto& [columns, lines] = axes;
  const PixelRect needed{columns.source_begin(), lines.source_begin(),
                         columns.source_end() - columns.source_begin(),
                         lines.source_end() - lines.source_begin()};
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(columns.out_count());
  axes_ = &axes;
  row_stride_ = (row_bytes + kRowSlack + 63) / 64 * 64;
  rows_.resize(row_stride_ * static_cast<std::size_t>(needed.height));
  if (!decoder_.decode(needed, *this, extent)) return false;
  resample_columns(lines, {rows_.data(), row_stride_, row_bytes}, rgb, row_stride);
  return true;
}

void ImageReader::row(int y, const std::uint8_t* rgbx) {
  const std::size_t i = static_cast<std::size_t>(y - axes_->lines.source_begin());
  resample_row(axes_->columns, rgbx, rows_.data() + i * row_stride_);
}

}  // namespace falcon::data
