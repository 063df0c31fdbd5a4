#include "data/resample.h"

#include <algorithm>
#include <cmath>

#include "data/resample_avx2.h"

namespace falcon::data {
namespace {

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

double triangle(double x) {
  return std::max(0.0, 1.0 - std::abs(x));
}

}  // namespace

void AxisWeights::assign(const AxisMap& map) {
  const double scale = static_cast<double>(map.in_size) / map.out_size;
  const double support = std::max(scale, 1.0);
  const double inverse = 1.0 / support;
  stride_ = static_cast<std::size_t>(std::ceil(support)) * 2 + 2;  // Pillow's, made even
  const std::size_t count = static_cast<std::size_t>(map.out_count);
  first_.resize(count);
  taps_.resize(count);
  weights_.assign(count * stride_, 0);
  std::vector<double> exact(stride_);
  most_taps_ = 0;
  source_begin_ = map.offset + map.in_size;
  source_end_ = map.offset;
  for (std::size_t i = 0; i < count; ++i) {
    const double center = (map.out_first + static_cast<double>(i) + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(center - support + 0.5));
    const int end = std::min(map.in_size, static_cast<int>(center + support + 0.5));
    const std::size_t taps = static_cast<std::size_t>(end - begin);
    double sum = 0;
    for (std::size_t k = 0; k < taps; ++k) {
      exact[k] = triangle((static_cast<double>(k) + begin - center + 0.5) * inverse);
      sum += exact[k];
    }
    for (std::size_t k = 0; k < taps; ++k) {
      weights_[i * stride_ + k] =
          static_cast<std::int32_t>(0.5 + exact[k] / sum * (1 << kWeightBits));
    }
    first_[i] = map.offset + begin;
    taps_[i] = end - begin;
    most_taps_ = std::max(most_taps_, taps_[i]);
    source_begin_ = std::min(source_begin_, first_[i]);
    source_end_ = std::max(source_end_, map.offset + end);
  }
}

// The weights are not negative and their sum is 2^22 up to rounding, so no result leaves 0..255 and
// nothing is clipped.
namespace {

void row_plain(const AxisWeights& axis, const std::uint8_t* rgbx, std::uint8_t* rgb) {
  for (int x = 0; x < axis.out_count(); ++x) {
    const std::uint8_t* pixel = rgbx + 4 * (axis.first(x) - axis.source_begin());
    const std::int32_t* weight = axis.weights(x);
    std::int32_t sum[3] = {kHalf, kHalf, kHalf};
    for (int k = 0; k < axis.taps(x); ++k, pixel += 4) {
      for (int channel = 0; channel < 3; ++channel) sum[channel] += weight[k] * pixel[channel];
    }
    for (int channel = 0; channel < 3; ++channel) {
      rgb[3 * x + channel] = static_cast<std::uint8_t>(sum[channel] >> kWeightBits);
    }
  }
}

void column_plain(const ColumnTaps& taps, std::size_t begin, std::size_t end, std::uint8_t* out) {
  for (std::size_t x = begin; x < end; ++x) {
    std::int32_t sum = kHalf;
    for (int k = 0; k < taps.count; ++k) {
      sum += taps.weights[k] * taps.rows[static_cast<std::size_t>(k) * taps.row_stride + x];
    }
    out[x] = static_cast<std::uint8_t>(sum >> kWeightBits);
  }
}

}  // namespace

void resample_row(const AxisWeights& axis, const std::uint8_t* rgbx, std::uint8_t* rgb,
                  bool use_avx2) {
  if (use_avx2) {
    row_avx2(axis, rgbx, rgb);
  } else {
    row_plain(axis, rgbx, rgb);
  }
}

void resample_columns(const AxisWeights& axis, const PackedRows& source, std::uint8_t* out,
                      bool use_avx2) {
  for (int y = 0; y < axis.out_count(); ++y, out += source.row_bytes) {
    const std::size_t skipped = static_cast<std::size_t>(axis.first(y) - axis.source_begin());
    const ColumnTaps taps{axis.weights(y), axis.taps(y), source.pixels + skipped * source.stride,
                          source.stride};
    const std::size_t done = use_avx2 ? column_avx2(taps, source.row_bytes, out) : 0;
    column_plain(taps, done, source.row_bytes, out);
  }
}

}  // namespace falcon::data
