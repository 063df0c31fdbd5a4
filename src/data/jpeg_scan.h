// The headers of a JPEG file that holds one Huffman coded scan (ITU-T T.81), as far as one must
// know them to walk through that scan without making pixels. libjpeg does not give them away.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace falcon::data {

/// A Huffman table as a file holds it (T.81 B.2.4.2): how many codes of each length, and what they
/// stand for in the order of the codes.
struct HuffmanTable {
  std::array<std::uint8_t, 17> counts{};  // [0] is unused
  std::vector<std::uint8_t> symbols;
};

struct JpegScan {
  static constexpr std::size_t kMostComponents = 3;
  struct Component {
    int id = 0;
    int blocks = 1;  // in an MCU
    std::size_t dc_table = 0;
    std::size_t ac_table = 0;
  };

  int width = 0;
  int height = 0;
  int mcu_width = 8;  // pixels
  int mcu_height = 8;
  std::vector<Component> components;
  std::array<HuffmanTable, 4> dc_tables;
  std::array<HuffmanTable, 4> ac_tables;
  std::size_t height_at = 0;  // byte of the file where the frame header has its height
  std::size_t data_at = 0;    // first coded byte

  int mcus_across() const { return (width + mcu_width - 1) / mcu_width; }
  int mcus_down() const { return (height + mcu_height - 1) / mcu_height; }
};

/// Nothing for files of another kind (progressive, arithmetic coding, more than 8 bits, several
/// scans, restart markers) and for headers that make no sense. Reads no byte outside `file`.
std::optional<JpegScan> parse_jpeg_scan(std::span<const std::byte> file);

}  // namespace falcon::data
