#include "data/huffman.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace falcon::data {
namespace {

// The codes in order, with their lengths (T.81 C.2).
template <class Use>
void for_each_code(const HuffmanTable& table, const Use& use) {
  unsigned code = 0;
  std::size_t place = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    for (int i = 0; i < table.counts[static_cast<std::size_t>(length)]; ++i, ++code, ++place) {
      use(code & 0xFFFF, length, place);
    }
  }
}

bool holds_0xff(std::uint64_t bytes) {
  return ((~bytes - 0x0101010101010101) & bytes & 0x8080808080808080) != 0;
}

}  // namespace

void BitReader::fill() {
  if (end_ - next_ >= 8) {
    std::uint64_t ahead = 0;
    std::memcpy(&ahead, next_, sizeof ahead);
    if (!holds_0xff(ahead)) {
      static_assert(std::endian::native == std::endian::little);
      bits_ |= __builtin_bswap64(ahead) >> count_;
      const int bytes = (63 - count_) / 8;
      next_ += bytes;
      count_ += 8 * bytes;
      return;
    }
  }
  // What lies behind the last whole byte may have been seen already; it is seen again.
  bits_ = count_ == 0 ? 0 : bits_ >> (64 - count_) << (64 - count_);
  while (count_ <= 56) {
    std::uint64_t byte = 0;
    if (next_ == end_ || (*next_ == 0xFF && (end_ - next_ < 2 || next_[1] != 0))) {
      ++missing_;
    } else {
      byte = *next_;
      next_ += byte == 0xFF ? 2 : 1;
    }
    bits_ |= byte << (56 - count_);
    count_ += 8;
  }
}

BitPlace BitReader::place() const {
  const std::uint8_t* at = next_;
  for (int back = (count_ + 7) / 8 - missing_; back > 0; --back) {
    at -= at - begin_ >= 2 && at[-2] == 0xFF ? 2 : 1;
  }
  return {static_cast<std::size_t>(at - begin_), (8 - count_ % 8) % 8};
}

HuffmanDecoder::HuffmanDecoder(const HuffmanTable& table) : symbols_(table.symbols) {
  for_each_code(table, [this](unsigned code, int length, std::size_t place) {
    const std::size_t at = static_cast<std::size_t>(length);
    limit_[at] = (code + 1) << (16 - length);
    offset_[at] = static_cast<int>(place) - static_cast<int>(code);
    if (length > kShortBits) return;
    const std::size_t first = static_cast<std::size_t>(code) << (kShortBits - length);
    const std::size_t last = first + (std::size_t{1} << (kShortBits - length));
    for (std::size_t i = first; i < std::min(last, short_.size()); ++i) {
      short_[i] = static_cast<std::uint16_t>(length << 8 | symbols_[place]);
    }
  });
}

int HuffmanDecoder::next_long(std::uint32_t ahead, BitReader& bits) const {
  for (std::size_t length = 1; length <= 16; ++length) {
    if (ahead >= limit_[length]) continue;
    const int place = static_cast<int>(ahead >> (16 - length)) + offset_[length];
    if (place < 0 || place >= static_cast<int>(symbols_.size())) return -1;
    bits.skip(static_cast<int>(length));
    return symbols_[static_cast<std::size_t>(place)];
  }
  return -1;
}

HuffmanEncoder::HuffmanEncoder(const HuffmanTable& table) {
  for_each_code(table, [&](unsigned code, int length, std::size_t place) {
    lengths_[table.symbols[place]] = static_cast<std::uint8_t>(length);
    codes_[table.symbols[place]] = static_cast<std::uint16_t>(code);
  });
}

void BitWriter::put(unsigned bits, int count) {
  open_ = open_ << count | (bits & ((1U << count) - 1));
  count_ += count;
  while (count_ >= 8) {
    count_ -= 8;
    const std::uint8_t byte = static_cast<std::uint8_t>(open_ >> count_);
    bytes_.push_back(byte);
    if (byte == 0xFF) bytes_.push_back(0);
  }
}

}  // namespace falcon::data
