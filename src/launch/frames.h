// Messages as bytes on a stream socket: a length of 4 bytes (little-endian) before each payload.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace falcon::launch {

/// Records of a million steps fit. Four bytes of plain text, read as a length, are above it: what
/// is no frame is noticed at once.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 29;

/// Before each payload.
inline constexpr std::size_t kFrameHeaderBytes = 4;

/// Throws Error(kInternal) above the limit.
std::string framed(std::string_view payload, std::size_t limit = kMaxFrameBytes);

/// Puts frames together from pieces of any size.
class FrameReader {
 public:
  explicit FrameReader(std::size_t limit = kMaxFrameBytes) : limit_(limit) {}
  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// The next whole payload, if it is there. Throws Error(kWorker) on a length above the limit.
  std::optional<std::string> next();
  /// What is missing of the frame that has begun. REQUIRES: its header is there.
  std::size_t missing_bytes() const;
  /// The stream may not end here.
  bool is_inside_frame() const { return read_ < buffer_.size(); }

 private:
  std::size_t length() const;

  std::size_t limit_;
  std::string buffer_;
  std::size_t read_ = 0;  // bytes of buffer_ already handed out
};

}  // namespace falcon::launch
