// Huffman codes and bits of a JPEG scan (ITU-T T.81, annexes C and F): to follow them, and to write
// some. Bytes 0xFF of the data have a zero behind them, which belongs to none of it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/jpeg_scan.h"

namespace falcon::data {

/// A bit of the file; bit 0 is the highest of its byte.
struct BitPlace {
  std::size_t byte = 0;
  int bit = 0;
};

class BitReader {
 public:
  BitReader(std::span<const std::byte> file, std::size_t first)
      : next_(reinterpret_cast<const std::uint8_t*>(file.data()) + first),
        begin_(reinterpret_cast<const std::uint8_t*>(file.data())),
        end_(begin_ + file.size()) {}

  /// The next 16 bits; at least 16 more may be read after it.
  std::uint32_t peek() {
    if (count_ < 32) fill();
    return static_cast<std::uint32_t>(bits_ >> 48);
  }
  /// REQUIRES: no more than 32 bits since peek().
  void skip(int count) {
    bits_ <<= count;
    count_ -= count;
  }
  /// T.81 F.2.2.1 EXTEND. REQUIRES: as skip(), count at most 15.
  int signed_number(int count) {
    if (count == 0) return 0;
    const int number = static_cast<int>(bits_ >> (64 - count));
    skip(count);
    return number < 1 << (count - 1) ? number - (1 << count) + 1 : number;
  }
  /// Whether bits were given out that the data does not have.
  bool is_past_end() const { return count_ < 8 * missing_; }
  /// Of the next bit. REQUIRES: !is_past_end().
  BitPlace place() const;

 private:
  void fill();

  const std::uint8_t* next_;
  const std::uint8_t* begin_;
  const std::uint8_t* end_;
  std::uint64_t bits_ = 0;  // the next ones, from the highest on
  int count_ = 0;
  int missing_ = 0;  // bytes made up behind the end of the data
};

class HuffmanDecoder {
 public:
  explicit HuffmanDecoder(const HuffmanTable& table);
  /// The symbol of the next code, or -1 when there is none such.
  int next(BitReader& bits) const {
    const std::uint32_t ahead = bits.peek();
    const std::uint16_t entry = short_[ahead >> (16 - kShortBits)];
    if (entry == 0) return next_long(ahead, bits);
    bits.skip(entry >> 8);
    return entry & 0xFF;
  }

 private:
  static constexpr int kShortBits = 10;
  int next_long(std::uint32_t ahead, BitReader& bits) const;

  std::array<std::uint16_t, 1 << kShortBits> short_{};  // by first bits: length << 8 | symbol, or 0
  std::array<std::uint32_t, 17> limit_{};  // by length: first 16 bits behind its last code
  std::array<int, 17> offset_{};           // by length: place of a symbol minus its code
  std::vector<std::uint8_t> symbols_;
};

class HuffmanEncoder {
 public:
  explicit HuffmanEncoder(const HuffmanTable& table);
  bool has(int symbol) const { return length(symbol) > 0; }
  int length(int symbol) const { return lengths_[static_cast<std::size_t>(symbol)]; }
  unsigned code(int symbol) const { return codes_[static_cast<std::size_t>(symbol)]; }

 private:
  std::array<std::uint8_t, 256> lengths_{};
  std::array<std::uint16_t, 256> codes_{};
};

/// Adds bytes to the end of a vector.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  /// The low `count` bits of `bits`, at most 16.
  void put(unsigned bits, int count);
  /// Bits that do not make a byte yet.
  int open_bits() const { return count_; }

 private:
  std::vector<std::uint8_t>& bytes_;
  std::uint32_t open_ = 0;
  int count_ = 0;
};

}  // namespace falcon::data
