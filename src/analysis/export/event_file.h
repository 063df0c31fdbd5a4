// TensorBoard's event files: TFRecords (tensorflow/core/lib/io/record_writer.cc) of Event messages
// (tensorflow/core/util/event.proto), written byte by byte.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace falcon::analysis {

/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), as RFC 3720 has it.
std::uint32_t crc32c(std::string_view bytes);

class EventFile {
 public:
  /// The first record says the version of the file.
  explicit EventFile(double wall_time_s);
  void add_scalar(const std::string& tag, double wall_time_s, std::int64_t step, double value);
  std::string take() { return std::move(bytes_); }

 private:
  void add_record(std::string_view event);
  std::string bytes_;
};

}  // namespace falcon::analysis
