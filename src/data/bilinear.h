// Bilinear resizing between the two nearest pixels of each axis, without antialias: equal to
// OpenCV's INTER_LINEAR on 8-bit pictures to the bit (11-bit weights, its vertical pass that cuts
// low bits). Any scale and shift along each axis, so that one pass resizes, crops, zooms and
// mirrors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/jpeg_decoder.h"
#include "data/resample.h"
#include "data/tile_record.h"

namespace falcon::data {

/// Wanted pixel i, 0 .. out_count - 1, has its centre at scale * (i + 0.5) + shift of the source,
/// where source pixel k spans k .. k + 1; outside, the edge pixel is repeated. A negative scale
/// mirrors.
struct LinearMap {
  double scale = 1;
  double shift = 0;
  int in_size = 0;
  int out_count = 0;
};

class LinearAxis {
 public:
  static constexpr int kOne = kWeightOne;  // the weights of a pixel add up to this
  void assign(const LinearMap& map);
  int out_count() const { return static_cast<int>(first_.size()); }
  /// The nearer source pixel of the two; the other one follows it and may lie outside when its
  /// weight is 0.
  int first(int out) const { return first_[static_cast<std::size_t>(out)]; }
  /// Both weights, 16 bits each, the first one's low.
  const std::uint32_t* weights(int out) const {
    return weights_.data() + static_cast<std::size_t>(out);
  }
  int weight_of_first(int out) const { return static_cast<int>(*weights(out) & 0xFFFF); }
  int weight_of_second(int out) const { return static_cast<int>(*weights(out) >> 16); }
  int source_begin() const { return source_begin_; }
  int source_end() const { return source_end_; }

  /// The axis as numbers (data/tile_record.h), out_count() of them, for a source that begins at
  /// source_begin().
  void write(std::int32_t* numbers) const;
  void assign(std::span<const std::int32_t> numbers);

 private:
  void start(std::size_t count);
  void set(std::size_t out, int first, int second_weight);

  std::vector<std::int32_t> first_;
  std::vector<std::uint32_t> weights_;
  int source_begin_ = 0;
  int source_end_ = 0;
};

/// Resizes rows as they come; keeps its buffers.
class BilinearRows : public RowSink {
 public:
  explicit BilinearRows(bool use_avx2 = has_avx2()) : use_avx2_(use_avx2) {}
  /// The rows to come are columns.source_begin() .. source_end() - 1 of lines.source_begin() ..
  /// source_end() - 1. Writes packed RGB, rows row_stride bytes apart, 3 * columns.out_count()
  /// bytes of each. REQUIRES: the lines are not mirrored; both axes outlive the rows.
  void begin(const LinearAxis& columns, const LinearAxis& lines, std::uint8_t* rgb,
             std::size_t row_stride);
  void row(int y, const std::uint8_t* rgbx) override;

 private:
  void write_line(int line, const std::int16_t* above, const std::int16_t* below);

  bool use_avx2_;
  const LinearAxis* columns_ = nullptr;
  const LinearAxis* lines_ = nullptr;
  int next_line_ = 0;
  std::vector<std::int16_t> rows_[2];  // the last two source rows, resized: 4 numbers a pixel
  std::vector<std::uint8_t> line_;
  std::uint8_t* rgb_ = nullptr;
  std::size_t row_stride_ = 0;
};

/// Decodes a picture and writes what two axes need of it, resized or as it is; keeps its buffers.
/// One object a thread.
class BilinearReader {
 public:
  explicit BilinearReader(bool use_avx2 = has_avx2()) : resizing_(use_avx2) {}
  /// Reads the header. False: see problem().
  bool open(std::span<const std::byte> file) { return decoder_.open(file); }
  int width() const { return decoder_.width(); }
  int height() const { return decoder_.height(); }
  /// As BilinearRows::begin(). False when the file is damaged. REQUIRES: open() returned true.
  /// rows: as JpegDecoder::decode().
  bool read(const LinearAxis& columns, const LinearAxis& lines, JpegDecoder::Extent extent,
            std::uint8_t* rgb, std::size_t row_stride, const JpegRows* rows = nullptr);
  /// The pixels that are needed for that, packed without a gap.
  bool read_source(const LinearAxis& columns, const LinearAxis& lines, JpegDecoder::Extent extent,
                   std::uint8_t* rgb, const JpegRows* rows = nullptr);
  /// Looks for damage only.
  bool check();
  const DecodeProblem& problem() const { return decoder_.problem(); }

 private:
  JpegDecoder decoder_;
  BilinearRows resizing_;
};

}  // namespace falcon::data
