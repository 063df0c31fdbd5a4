#include "data/resample.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/resample_avx2.h"

namespace falcon::data {
namespace {

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);
constexpr double kLeastOverlap = 1e-3;  // of a pixel, as OpenCV has it

double triangle(double x) {
  return std::max(0.0, 1.0 - std::abs(x));
}

}  // namespace

void AxisWeights::start(std::size_t out_count, int most_taps) {
  stride_ = static_cast<std::size_t>(most_taps) / 2 * 2 + 2;  // even, with a zero behind the last
  first_.resize(out_count);
  taps_.resize(out_count);
  weights_.assign(out_count * stride_, 0);
  most_taps_ = 0;
  source_begin_ = std::numeric_limits<int>::max();
  source_end_ = 0;
}

// exact: any scale; the fixed-point weights are those of exact / sum.
void AxisWeights::set(std::size_t out, int first, std::span<const double> exact) {
  double sum = 0;
  for (const double weight : exact) sum += weight;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    weights_[out * stride_ + k] =
        static_cast<std::int32_t>(0.5 + exact[k] / sum * (1 << kWeightBits));
  }
  const int taps = static_cast<int>(exact.size());
  first_[out] = first;
  taps_[out] = taps;
  most_taps_ = std::max(most_taps_, taps);
  source_begin_ = std::min(source_begin_, first);
  source_end_ = std::max(source_end_, first + taps);
}

void AxisWeights::assign(const AxisMap& map) {
  const double scale = static_cast<double>(map.in_size) / map.out_size;
  const double support = std::max(scale, 1.0);
  const double inverse = 1.0 / support;
  const int most_taps = static_cast<int>(std::ceil(support)) * 2 + 1;  // as Pillow has it
  start(static_cast<std::size_t>(map.out_count), most_taps);
  std::vector<double> exact(static_cast<std::size_t>(most_taps));
  for (int i = 0; i < map.out_count; ++i) {
    const double center = (map.out_first + i + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(center - support + 0.5));
    const int end = std::min(map.in_size, static_cast<int>(center + support + 0.5));
    for (int k = begin; k < end; ++k) {
      exact[static_cast<std::size_t>(k - begin)] = triangle((k - center + 0.5) * inverse);
    }
    set(static_cast<std::size_t>(i), map.offset + begin,
        std::span(exact).first(static_cast<std::size_t>(end - begin)));
  }
}

void AxisWeights::assign_area(const AxisMap& map) {
  const double scale = static_cast<double>(map.in_size) / map.out_size;
  const int most_taps = static_cast<int>(std::ceil(scale)) + 1;
  start(static_cast<std::size_t>(map.out_count), most_taps);
  std::vector<double> exact(static_cast<std::size_t>(most_taps));
  for (int i = 0; i < map.out_count; ++i) {
    const double low = (map.out_first + i) * scale;
    const double high = std::min<double>(low + scale, map.in_size);
    const int begin = static_cast<int>(low + kLeastOverlap);
    const int end = std::min(map.in_size, static_cast<int>(std::ceil(high - kLeastOverlap)));
    for (int k = begin; k < end; ++k) {
      exact[static_cast<std::size_t>(k - begin)] =
          std::min<double>(high, k + 1) - std::max<double>(low, k);
    }
    set(static_cast<std::size_t>(i), map.offset + begin,
        std::span(exact).first(static_cast<std::size_t>(end - begin)));
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
                      std::size_t out_stride, bool use_avx2) {
  for (int y = 0; y < axis.out_count(); ++y, out += out_stride) {
    const std::size_t skipped = static_cast<std::size_t>(axis.first(y) - axis.source_begin());
    const ColumnTaps taps{axis.weights(y), axis.taps(y), source.pixels + skipped * source.stride,
                          source.stride};
    const std::size_t done = use_avx2 ? column_avx2(taps, source.row_bytes, out) : 0;
    column_plain(taps, done, source.row_bytes, out);
  }
}

}  // namespace falcon::data
