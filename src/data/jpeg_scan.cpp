#include "data/jpeg_scan.h"

#include <algorithm>
#include <numeric>

namespace falcon::data {
namespace {

enum Marker : std::uint8_t {
  kBaseline = 0xC0,
  kExtended = 0xC1,
  kLastFrame = 0xCF,
  kHuffmanTables = 0xC4,
  kEndOfImage = 0xD9,
  kStartOfScan = 0xDA,
  kRestartInterval = 0xDD
};

bool is_other_frame(int marker) {
  return marker > kExtended && marker <= kLastFrame && marker != kHuffmanTables;
}

class HeaderReader {
 public:
  explicit HeaderReader(std::span<const std::byte> file) : file_(file) {}

  std::optional<JpegScan> read() {
    at_ = 2;  // behind the start of the image
    while (good_) {
      const int marker = next_marker();
      const std::size_t begin = at_;
      end_ = begin + static_cast<std::size_t>(two_bytes());
      if (end_ > file_.size() || marker == kEndOfImage || is_other_frame(marker)) break;
      if (marker == kBaseline || marker == kExtended) read_frame();
      if (marker == kHuffmanTables) read_tables();
      if (marker == kRestartInterval && two_bytes() != 0) break;
      if (marker == kStartOfScan) {
        if (!read_scan_header() || !good_) break;
        scan_.data_at = end_;
        return std::move(scan_);
      }
      at_ = end_;
    }
    return std::nullopt;
  }

 private:
  int byte() {
    if (at_ >= file_.size()) {
      good_ = false;
      return 0;
    }
    return std::to_integer<int>(file_[at_++]);
  }
  int two_bytes() {
    const int high = byte();
    return high << 8 | byte();
  }

  int next_marker() {
    if (byte() != 0xFF) good_ = false;
    int marker = 0xFF;
    while (good_ && marker == 0xFF) marker = byte();
    return marker;
  }

  void read_frame() {
    const bool is_8_bit = byte() == 8;
    scan_.height_at = at_;
    scan_.height = two_bytes();
    scan_.width = two_bytes();
    const int count = byte();
    good_ = good_ && is_8_bit && scan_.height > 0 && scan_.width > 0 && count >= 1 &&
            count <= static_cast<int>(JpegScan::kMostComponents) && scan_.components.empty();
    int most_across = 1;
    int most_down = 1;
    for (int i = 0; i < count && good_; ++i) {
      const int id = byte();
      const int factors = byte();
      byte();  // its quantisation table
      const int across = factors >> 4;
      const int down = factors & 15;
      good_ = good_ && across >= 1 && across <= 4 && down >= 1 && down <= 4;
      most_across = std::max(most_across, across);
      most_down = std::max(most_down, down);
      scan_.components.push_back({id, across * down, 0, 0});
    }
    if (count == 1) {  // then its factors have no meaning: an MCU is a block
      most_across = most_down = 1;
      for (JpegScan::Component& component : scan_.components) component.blocks = 1;
    }
    scan_.mcu_width = 8 * most_across;
    scan_.mcu_height = 8 * most_down;
  }

  void read_tables() {
    while (good_ && at_ < end_) {
      const int place = byte();
      HuffmanTable table;
      for (std::size_t length = 1; length <= 16; ++length) {
        table.counts[length] = static_cast<std::uint8_t>(byte());
      }
      const int symbols = std::accumulate(table.counts.begin(), table.counts.end(), 0);
      good_ = good_ && symbols <= 256 && (place & 15) < 4 && place >> 4 < 2;
      for (int i = 0; i < symbols && good_; ++i) {
        table.symbols.push_back(static_cast<std::uint8_t>(byte()));
      }
      if (!good_) return;
      auto& tables = place >> 4 == 0 ? scan_.dc_tables : scan_.ac_tables;
      tables[static_cast<std::size_t>(place & 15)] = std::move(table);
    }
  }

  // False when the scan holds some of the picture only.
  bool read_scan_header() {
    const std::size_t count = static_cast<std::size_t>(byte());
    if (count == 0 || count != scan_.components.size()) return false;
    for (JpegScan::Component& component : scan_.components) {
      const int id = byte();
      const int tables = byte();
      if (id != component.id || (tables & 15) > 3 || tables >> 4 > 3) return false;
      component.dc_table = static_cast<std::size_t>(tables >> 4);
      component.ac_table = static_cast<std::size_t>(tables & 15);
    }
    return true;
  }

  std::span<const std::byte> file_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // of the segment in work
  bool good_ = true;
  JpegScan scan_;
};

}  // namespace

std::optional<JpegScan> parse_jpeg_scan(std::span<const std::byte> file) {
  return HeaderReader(file).read();
}

}  // namespace falcon::data
