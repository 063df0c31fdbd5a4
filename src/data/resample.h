// Separable resampling of 8-bit pixels, columns first, each pass rounded to 8 bits, 22-bit
// fixed-point weights. Two filters:
//   assign       bilinear with antialias, equal to Pillow's to the bit: a triangle whose support
//                  grows with the reduction (libImaging/Resample.c). torchvision's Resize and
//                  RandomResizedCrop on PIL pictures are this.
//   assign_area  mean over the area of a pixel, as OpenCV's INTER_AREA when it reduces
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace falcon::data {

/// Part of a resized axis: source pixels offset .. offset + in_size - 1 become out_size pixels, of
/// which out_first .. out_first + out_count - 1 are wanted.
struct AxisMap {
  int offset = 0;
  int in_size = 0;
  int out_size = 0;
  int out_first = 0;
  int out_count = 0;
};

constexpr int kWeightBits = 22;  // Pillow: 32 - 8 bits of a pixel - 2 spare

/// For every wanted pixel of an axis: its first source pixel and its weights (sum 2^22 up to
/// rounding), filled up with zeros to most_taps() + 1.
class AxisWeights {
 public:
  void assign(const AxisMap& map);
  /// REQUIRES: map.out_size <= map.in_size.
  void assign_area(const AxisMap& map);
  int out_count() const { return static_cast<int>(first_.size()); }
  int first(int out) const { return first_[static_cast<std::size_t>(out)]; }
  int taps(int out) const { return taps_[static_cast<std::size_t>(out)]; }
  int most_taps() const { return most_taps_; }
  const std::int32_t* weights(int out) const {
    return weights_.data() + static_cast<std::size_t>(out) * stride_;
  }
  /// The source pixels needed: source_begin() .. source_end() - 1.
  int source_begin() const { return source_begin_; }
  int source_end() const { return source_end_; }

 private:
  void start(std::size_t out_count, int most_taps);
  void set(std::size_t out, int first, std::span<const double> exact);

  std::size_t stride_ = 0;
  int most_taps_ = 0;
  std::vector<int> first_;
  std::vector<int> taps_;
  std::vector<std::int32_t> weights_;
  int source_begin_ = 0;
  int source_end_ = 0;
};

/// Whether the processor has AVX2. The results are the same without.
bool has_avx2();

/// Packed rows in memory; the first is source row axis.source_begin().
struct PackedRows {
  const std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;     // bytes from row to row
  std::size_t row_bytes = 0;  // used bytes of a row
};

/// One row of 4-byte pixels, the first of which is source pixel axis.source_begin(), to packed RGB:
/// writes 3 * out_count bytes and up to kRowSlack more. REQUIRES: kRowSlack readable bytes behind
/// the row.
void resample_row(const AxisWeights& axis, const std::uint8_t* rgbx, std::uint8_t* rgb,
                  bool use_avx2 = has_avx2());
constexpr std::size_t kRowSlack = 32;

/// Down the columns: axis.out_count() rows of source.row_bytes bytes, out_stride bytes apart.
void resample_columns(const AxisWeights& axis, const PackedRows& source, std::uint8_t* out,
                      std::size_t out_stride, bool use_avx2 = has_avx2());

}  // namespace falcon::data
