#include "data/bilinear.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/bilinear_avx2.h"

namespace falcon::data {
namespace {

constexpr int kPixelsAtOnce = 8;  // the fast ways work on so many, past the end of a row

std::size_t padded(int pixels) {
  return static_cast<std::size_t>((pixels + kPixelsAtOnce - 1) / kPixelsAtOnce * kPixelsAtOnce);
}

// Numbers of 1/128 level; the fourth of a pixel has no meaning.
void resize_row(const LinearAxis& axis, const std::uint8_t* rgbx, std::int16_t* row) {
  for (int x = 0; x < axis.out_count(); ++x, row += 4) {
    const std::uint8_t* pixel = rgbx + 4 * (axis.first(x) - axis.source_begin());
    for (int c = 0; c < 3; ++c) {
      const int sum = pixel[c] * axis.weight_of_first(x) + pixel[c + 4] * axis.weight_of_second(x);
      row[c] = static_cast<std::int16_t>(sum >> 4);
    }
  }
}

void blend_rows(const std::int16_t* above, const std::int16_t* below, int weight_above,
                int weight_below, int pixels, std::uint8_t* rgb) {
  for (int x = 0; x < pixels; ++x, above += 4, below += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) {
      const int quarters = (above[c] * weight_above >> 16) + (below[c] * weight_below >> 16);
      rgb[c] = static_cast<std::uint8_t>((quarters + 2) >> 2);
    }
  }
}

PixelRect source_of(const LinearAxis& columns, const LinearAxis& lines) {
  return {columns.source_begin(), lines.source_begin(),
          columns.source_end() - columns.source_begin(), lines.source_end() - lines.source_begin()};
}

class PackedSink : public RowSink {
 public:
  PackedSink(std::uint8_t* rgb, int width)
      : rgb_(rgb), row_bytes_(3 * static_cast<std::size_t>(width)) {}
  void row(int, const std::uint8_t* pixels) override {
    std::memcpy(rgb_, pixels, row_bytes_);
    rgb_ += row_bytes_;
  }
  int pixel_bytes() const override { return 3; }

 private:
  std::uint8_t* rgb_;
  std::size_t row_bytes_;
};

class NoRows : public RowSink {
 public:
  void row(int, const std::uint8_t*) override {}
};

}  // namespace

void LinearAxis::start(std::size_t count) {
  first_.resize(count);
  weights_.assign(padded(static_cast<int>(count)), 0);
  source_begin_ = std::numeric_limits<int>::max();
  source_end_ = 0;
}

void LinearAxis::set(std::size_t out, int first, int second_weight) {
  first_[out] = first;
  weights_[out] = static_cast<std::uint32_t>(kOne - second_weight) |
                  static_cast<std::uint32_t>(second_weight) << 16;
  source_begin_ = std::min(source_begin_, first);
  source_end_ = std::max(source_end_, first + (second_weight > 0 ? 2 : 1));
}

void LinearAxis::assign(const LinearMap& map) {
  const std::size_t count = static_cast<std::size_t>(map.out_count);
  start(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double at = std::clamp(map.scale * (static_cast<double>(i) + 0.5) + map.shift - 0.5, 0.0,
                                 map.in_size - 1.0);
    const int first = static_cast<int>(at);
    set(i, first, static_cast<int>(std::nearbyint((at - first) * kOne)));
  }
}

void LinearAxis::assign(std::span<const std::int32_t> numbers) {
  start(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    set(i, numbers[i] / kPlaceFactor, numbers[i] % kPlaceFactor);
  }
}

void LinearAxis::write(std::int32_t* numbers) const {
  for (int i = 0; i < out_count(); ++i) {
    numbers[i] = (first(i) - source_begin_) * kPlaceFactor + weight_of_second(i);
  }
}

bool BilinearReader::read(const LinearAxis& columns, const LinearAxis& lines,
                          JpegDecoder::Extent extent, std::uint8_t* rgb, std::size_t row_stride,
                          const JpegRows* rows) {
  resizing_.begin(columns, lines, rgb, row_stride);
  return decoder_.decode(source_of(columns, lines), resizing_, extent, rows);
}

bool BilinearReader::read_source(const LinearAxis& columns, const LinearAxis& lines,
                                 JpegDecoder::Extent extent, std::uint8_t* rgb,
                                 const JpegRows* rows) {
  const PixelRect source = source_of(columns, lines);
  PackedSink packed(rgb, source.width);
  return decoder_.decode(source, packed, extent, rows);
}

bool BilinearReader::check() {
  NoRows rows;
  // One row of one pixel: the rest is only read through.
  return decoder_.decode({0, 0, 1, 1}, rows, JpegDecoder::Extent::kWholeFile);
}

void BilinearRows::begin(const LinearAxis& columns, const LinearAxis& lines, std::uint8_t* rgb,
                         std::size_t row_stride) {
  columns_ = &columns;
  lines_ = &lines;
  next_line_ = 0;
  rgb_ = rgb;
  row_stride_ = row_stride;
  for (std::vector<std::int16_t>& row : rows_) row.resize(4 * padded(columns.out_count()));
  line_.resize(3 * padded(columns.out_count()) + kRowSlack);
}

void BilinearRows::row(int y, const std::uint8_t* rgbx) {
  if (next_line_ == lines_->out_count() || y < lines_->first(next_line_)) return;
  std::int16_t* row = rows_[y & 1].data();
  if (use_avx2_) {
    resize_row_avx2(*columns_, rgbx, row);
  } else {
    resize_row(*columns_, rgbx, row);
  }
  for (; next_line_ < lines_->out_count(); ++next_line_) {
    const int first = lines_->first(next_line_);
    const bool needs_next = lines_->weight_of_second(next_line_) > 0;
    if (first + (needs_next ? 1 : 0) > y) return;
    write_line(next_line_, rows_[first & 1].data(),
               rows_[(first + (needs_next ? 1 : 0)) & 1].data());
  }
}

void BilinearRows::write_line(int line, const std::int16_t* above, const std::int16_t* below) {
  const int pixels = columns_->out_count();
  const int weight_above = lines_->weight_of_first(line);
  const int weight_below = lines_->weight_of_second(line);
  if (use_avx2_) {
    blend_rows_avx2(above, below, weight_above, weight_below, pixels, line_.data());
  } else {
    blend_rows(above, below, weight_above, weight_below, pixels, line_.data());
  }
  std::memcpy(rgb_ + static_cast<std::size_t>(line) * row_stride_, line_.data(),
              3 * static_cast<std::size_t>(pixels));
}

}  // namespace falcon::data
