#include "data/jpeg_rows.h"

#include <algorithm>
#include <cstdlib>

#include "data/huffman.h"

namespace falcon::data {
namespace {

constexpr int kEndOfBlock = 0;
constexpr int kLongRun = 0xF0;  // 16 zeros
constexpr int kBlockNumbers = 64;
constexpr int kMostDcBits = 11;
constexpr int kMostAcBits = 10;
// Smoothing colours looks into the row of MCUs above: so many pixel rows have other values there.
constexpr int kEdgeRows = 2;

using DcValues = std::array<int, JpegScan::kMostComponents>;

// Follows the codes of a scan, block by block.
class ScanWalker {
 public:
  ScanWalker(std::span<const std::byte> file, const JpegScan& scan)
      : scan_(scan), bits_(file, scan.data_at) {
    for (const JpegScan::Component& component : scan.components) {
      dc_.emplace_back(scan.dc_tables[component.dc_table]);
      ac_.emplace_back(scan.ac_tables[component.ac_table]);
    }
  }

  bool skip_row() {
    for (int mcu = 0; mcu < scan_.mcus_across(); ++mcu) {
      for (std::size_t c = 0; c < scan_.components.size(); ++c) {
        for (int block = 0; block < scan_.components[c].blocks; ++block) {
          if (!skip_block(c)) return false;
        }
      }
    }
    return !bits_.is_past_end();
  }
  const DcValues& dc() const { return dc_values_; }
  BitPlace place() const { return bits_.place(); }

 private:
  bool skip_block(std::size_t component) {
    const int dc_bits = dc_[component].next(bits_);
    if (dc_bits < 0 || dc_bits > kMostDcBits) return false;
    dc_values_[component] += bits_.signed_number(dc_bits);
    if (std::abs(dc_values_[component]) > INT16_MAX) return false;
    for (int k = 1; k < kBlockNumbers; ++k) {
      const int symbol = ac_[component].next(bits_);
      if (symbol < 0) return false;
      if (symbol == kEndOfBlock) break;
      if ((symbol & 15) == 0 && symbol != kLongRun) return false;
      k += symbol >> 4;
      bits_.skip(symbol & 15);
    }
    return true;
  }

  const JpegScan& scan_;
  BitReader bits_;
  std::vector<HuffmanDecoder> dc_;
  std::vector<HuffmanDecoder> ac_;
  DcValues dc_values_{};
};

int bits_of(int number) {
  int bits = 0;
  for (int left = std::abs(number); left > 0; left >>= 1) ++bits;
  return bits;
}

// Differences that add up to `sum`, of such sizes as the table has codes for; as few as it goes.
// False when it has not the codes.
bool split(int sum, const HuffmanEncoder& codes, std::vector<int>& differences) {
  differences.clear();
  while (sum != 0) {
    int bits = std::min(bits_of(sum), kMostDcBits);
    while (bits > 0 && !codes.has(bits)) --bits;
    if (bits == 0) return false;
    const int size = std::min(std::abs(sum), (1 << bits) - 1);
    differences.push_back(sum > 0 ? size : -size);
    sum -= differences.back();
  }
  return true;
}

// Sizes of numbers of a block that together take `bits` bits, modulo 8. Nothing when the table
// has not the codes.
std::optional<std::vector<int>> sizes_for(int bits, const HuffmanEncoder& codes) {
  std::array<std::optional<std::vector<int>>, 8> ways;
  ways[0].emplace();
  for (int round = 0; round < 7; ++round) {
    for (std::size_t from = 0; from < ways.size(); ++from) {
      for (int size = 1; ways[from] && size <= kMostAcBits; ++size) {
        if (!codes.has(size)) continue;
        auto& to = ways[(from + static_cast<std::size_t>(codes.length(size) + size)) % 8];
        if (to) continue;
        to = ways[from];
        to->push_back(size);
      }
    }
  }
  return ways[static_cast<std::size_t>(bits % 8)];
}

// The made up row of MCUs.
class RowMaker {
 public:
  RowMaker(const JpegScan& scan, BitWriter& bits) : scan_(scan), bits_(bits) {
    for (const JpegScan::Component& component : scan.components) {
      dc_.emplace_back(scan.dc_tables[component.dc_table]);
      ac_.emplace_back(scan.ac_tables[component.ac_table]);
    }
  }

  // Ends `last_bits` bits behind a whole byte. False when the file's codes do not suffice.
  bool make(std::span<const std::int16_t> dc, int last_bits) {
    const std::size_t count = scan_.components.size();
    std::vector<std::vector<int>> differences(count);
    for (std::size_t c = 0; c < count; ++c) {
      if (!dc_[c].has(0) || !ac_[c].has(kEndOfBlock)) return false;
      if (!split(dc[c], dc_[c], differences[c])) return false;
      const std::size_t blocks = static_cast<std::size_t>(scan_.mcus_across()) *
                                 static_cast<std::size_t>(scan_.components[c].blocks);
      if (differences[c].size() > blocks) return false;
      std::ranges::reverse(differences[c]);  // they are taken from the back
    }
    int blocks_left = 0;
    for (const auto& component : scan_.components) blocks_left += component.blocks;
    blocks_left *= scan_.mcus_across();
    while (true) {
      for (std::size_t c = 0; c < count; ++c) {
        for (int block = 0; block < scan_.components[c].blocks; ++block) {
          put_dc(differences[c], dc_[c]);
          if (--blocks_left == 0) return end_at(last_bits, ac_[c]);
          put(kEndOfBlock, ac_[c]);
        }
      }
    }
  }

 private:
  void put(int symbol, const HuffmanEncoder& codes) {
    bits_.put(codes.code(symbol), codes.length(symbol));
  }
  void put_number(int number, int bits) {
    bits_.put(static_cast<unsigned>(number > 0 ? number : number + (1 << bits) - 1), bits);
  }
  void put_dc(std::vector<int>& differences, const HuffmanEncoder& codes) {
    if (differences.empty()) return put(0, codes);
    const int difference = differences.back();
    differences.pop_back();
    put(bits_of(difference), codes);
    put_number(difference, bits_of(difference));
  }
  bool end_at(int last_bits, const HuffmanEncoder& codes) {
    const int now = bits_.open_bits() + codes.length(kEndOfBlock);
    const auto sizes = sizes_for((last_bits - now + 32) % 8, codes);
    if (!sizes) return false;
    for (const int size : *sizes) {
      put(size, codes);
      put_number(1 << (size - 1), size);
    }
    put(kEndOfBlock, codes);
    return true;
  }

  const JpegScan& scan_;
  BitWriter& bits_;
  std::vector<HuffmanEncoder> dc_;
  std::vector<HuffmanEncoder> ac_;
};

}  // namespace

JpegRows::JpegRows(std::span<const std::byte> file) {
  const std::optional<JpegScan> scan = parse_jpeg_scan(file);
  if (!scan || file.size() > UINT32_MAX) return;
  file_bytes_ = file.size();
  mcu_height_ = scan->mcu_height;
  const int rows = scan->mcus_down();
  rows_between_ = std::max(1, (rows - 1 + kMostStarts - 1) / kMostStarts);
  ScanWalker walker(file, *scan);
  for (int row = 0; row + 1 < rows; ++row) {
    if (!walker.skip_row()) {
      starts_.clear();
      return;
    }
    if ((row + 1) % rows_between_ != 0) continue;
    Start start;
    const BitPlace place = walker.place();
    start.byte = static_cast<std::uint32_t>(place.byte);
    start.bit = static_cast<std::uint8_t>(place.bit);
    for (std::size_t c = 0; c < start.dc.size(); ++c) {
      start.dc[c] = static_cast<std::int16_t>(walker.dc()[c]);
    }
    starts_.push_back(start);
  }
}

std::optional<JpegRows::Resume> JpegRows::resume(std::span<const std::byte> file, int top,
                                                 std::vector<std::uint8_t>& head) const {
  const int rows_apart = rows_between_ * mcu_height_;
  const std::size_t reached = static_cast<std::size_t>(std::max(0, top - kEdgeRows) / rows_apart);
  const std::size_t count = std::min(reached, starts_.size());
  if (count == 0 || file.size() != file_bytes_) return std::nullopt;
  const std::optional<JpegScan> scan = parse_jpeg_scan(file);
  if (!scan) return std::nullopt;
  const Start& start = starts_[count - 1];
  Resume resume;
  resume.shift = static_cast<int>(count) * rows_apart - mcu_height_;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  head.assign(bytes, bytes + scan->data_at);
  const int height = scan->height - resume.shift;
  head[scan->height_at] = static_cast<std::uint8_t>(height >> 8);
  head[scan->height_at + 1] = static_cast<std::uint8_t>(height & 0xFF);
  BitWriter bits(head);
  if (!RowMaker(*scan, bits).make(start.dc, start.bit)) return std::nullopt;
  resume.next = start.byte;
  if (start.bit > 0) {
    const std::uint8_t shared = bytes[start.byte];
    bits.put(shared & (0xFFU >> start.bit), 8 - start.bit);
    resume.next += shared == 0xFF ? 2 : 1;  // the zero behind it is no data
  }
  return resume;
}

}  // namespace falcon::data
