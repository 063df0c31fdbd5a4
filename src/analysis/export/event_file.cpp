#include "analysis/export/event_file.h"

#include <array>
#include <bit>

namespace falcon::analysis {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
    table[i] = crc;
  }
  return table;
}

template <class Integer>
void add_little_endian(Integer value, std::string& out) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

void add_varint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out += static_cast<char>(static_cast<unsigned char>(value | 0x80));
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Wire types of protocol buffers: a field starts with its number and one of these.
enum Wire : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void add_key(std::uint64_t field, Wire wire, std::string& out) {
  add_varint(field << 3 | wire, out);
}

void add_bytes(std::uint64_t field, std::string_view bytes, std::string& out) {
  add_key(field, kBytes, out);
  add_varint(bytes.size(), out);
  out += bytes;
}

std::string event_of(double wall_time_s) {
  std::string event;
  add_key(1, kFixed64, event);
  add_little_endian(std::bit_cast<std::uint64_t>(wall_time_s), event);
  return event;
}

/// TFRecord stores checksums rotated and shifted, so that a checksum of checksums stays useful.
std::uint32_t masked(std::uint32_t crc) {
  return std::rotr(crc, 15) + 0xA282EAD8u;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_table();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 255];
  return crc ^ 0xFFFFFFFFu;
}

EventFile::EventFile(double wall_time_s) {
  std::string event = event_of(wall_time_s);
  add_bytes(3, "brain.Event:2", event);
  add_record(event);
}

void EventFile::add_scalar(const std::string& tag, double wall_time_s, std::int64_t step,
                           double value) {
  std::string scalar;  // Summary.Value: tag = 1, simple_value = 2
  add_bytes(1, tag, scalar);
  add_key(2, kFixed32, scalar);
  add_little_endian(std::bit_cast<std::uint32_t>(static_cast<float>(value)), scalar);
  std::string summary;
  add_bytes(1, scalar, summary);
  std::string event = event_of(wall_time_s);
  add_key(2, kVarint, event);
  add_varint(static_cast<std::uint64_t>(step), event);
  add_bytes(5, summary, event);
  add_record(event);
}

void EventFile::add_record(std::string_view event) {
  std::string length;
  add_little_endian(static_cast<std::uint64_t>(event.size()), length);
  bytes_ += length;
  add_little_endian(masked(crc32c(length)), bytes_);
  bytes_ += event;
  add_little_endian(masked(crc32c(event)), bytes_);
}

}  // namespace falcon::analysis
