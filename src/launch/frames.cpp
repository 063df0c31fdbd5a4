#include "launch/frames.h"

#include <cstdint>

#include "falconbench/errors.h"

namespace falcon::launch {
std::string framed(std::string_view payload, std::size_t limit) {
  if (payload.size() > limit) {
    throw Error(ExitCode::kInternal, "a message of " + std::to_string(payload.size()) +
                                         " bytes is above the limit of " + std::to_string(limit));
  }
  std::string out;
  out.reserve(kFrameHeaderBytes + payload.size());
  for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
    out.push_back(static_cast<char>((payload.size() >> (8 * i)) & 0xFF));
  }
  return out += payload;
}

std::size_t FrameReader::length() const {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(buffer_[read_ + i])} << (8 * i);
  }
  return length;
}

std::size_t FrameReader::missing_bytes() const {
  return kFrameHeaderBytes + length() - (buffer_.size() - read_);
}

std::optional<std::string> FrameReader::next() {
  const std::size_t available = buffer_.size() - read_;
  std::size_t length = 0;
  if (available >= kFrameHeaderBytes) {
    length = this->length();
    if (length > limit_) {
      throw Error(ExitCode::kWorker, "a message claims " + std::to_string(length) +
                                         " bytes, the limit is " + std::to_string(limit_));
    }
  }
  if (available < kFrameHeaderBytes || available - kFrameHeaderBytes < length) {
    buffer_.erase(0, read_);
    read_ = 0;
    if (buffer_.empty()) buffer_.shrink_to_fit();  // records are large and come once
    return std::nullopt;
  }
  std::string payload = buffer_.substr(read_ + kFrameHeaderBytes, length);
  read_ += kFrameHeaderBytes + length;
  return payload;
}

}  // namespace falcon::launch
