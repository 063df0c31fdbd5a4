// Where rows of a picture begin within its JPEG file, so that a later read can start decoding just
// above the part it wants. Most of the time that decoding takes goes into the Huffman codes, and
// these can be followed from the first one only: unless one knows at which bit a row begins, and
// the DC values that its differences start from.
//
// libjpeg is made to start there by bytes that it takes for a whole, lower picture: the file's own
// headers with the height reduced, one row of MCUs that is made up of the file's own codes so that
// the DC values come out right and it ends at the right bit, and the file from there on.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/jpeg_scan.h"

namespace falcon::data {

class JpegRows {
 public:
  static constexpr int kMostStarts = 32;

  /// Knows no place: every read starts at the top.
  JpegRows() = default;
  /// Walks through a file that has been decoded without complaint. Finds nothing in a kind of file
  /// that parse_jpeg_scan() does not take.
  explicit JpegRows(std::span<const std::byte> file);

  struct Resume {
    int shift = 0;         // row 0 of the lower picture is row `shift` of the whole one
    std::size_t next = 0;  // byte of the file that follows `head`
  };
  /// Writes into `head` what replaces the file's first bytes. Rows of the whole picture from
  /// shift + one MCU on are those of a full decode, except for the first two of them, in which
  /// smoothed colours may differ: these end at or above `top`. Nothing when the read cannot start
  /// below the first row, or the file has another size than the one that was walked through.
  std::optional<Resume> resume(std::span<const std::byte> file, int top,
                               std::vector<std::uint8_t>& head) const;

  bool knows_places() const { return !starts_.empty(); }

 private:
  struct Start {
    std::uint32_t byte = 0;  // that the row's first code begins in
    std::uint8_t bit = 0;    // of it, 0: its highest
    std::array<std::int16_t, JpegScan::kMostComponents> dc{};
  };

  std::vector<Start> starts_;  // of every rows_between_-th row of MCUs, without the first one
  int rows_between_ = 1;
  int mcu_height_ = 8;
  std::size_t file_bytes_ = 0;
};

}  // namespace falcon::data
