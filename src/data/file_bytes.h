// A whole file in memory that is used again for the next file.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "data/file_access.h"
#include "data/uring_reader.h"

namespace falcon::data {

/// Of memory, offset and length of an O_DIRECT read: what no device in use asks more than.
inline constexpr std::size_t kDirectAlignment = 4096;

struct AlignedFree {
  void operator()(std::byte* memory) const { std::free(memory); }
};
/// At least so many bytes, aligned for O_DIRECT. Throws std::bad_alloc.
std::unique_ptr<std::byte[], AlignedFree> aligned_bytes(std::size_t bytes);

class FileBytes {
 public:
  /// Reads the first `limit` bytes of a regular file. False with `problem` set ("Permission
  /// denied", "is no regular file", ...). Never waits for a pipe or a device.
  bool read(const std::filesystem::path& path, std::string& problem,
            std::size_t limit = static_cast<std::size_t>(-1));
  /// All of it, by the way that `access` has; buffered where this file or thread cannot, which is
  /// noted there.
  bool read(const std::filesystem::path& path, std::string& problem, const FileAccess& access);
  std::span<const std::byte> bytes() const { return {buffer_.get(), size_}; }
  /// Size of the file on disk when it was opened.
  std::size_t file_size() const { return file_size_; }

 private:
  bool start(int descriptor, std::size_t limit, std::string& problem);
  bool read_rest(int descriptor, std::string& problem);
  void read_past_cache(int descriptor, const FileAccess& access);
  void read_by_ring(int descriptor, const FileAccess& access);

  std::unique_ptr<std::byte[], AlignedFree> buffer_;
  std::size_t capacity_ = 0;
  std::size_t wanted_ = 0;
  std::size_t size_ = 0;
  std::size_t file_size_ = 0;
  std::unique_ptr<UringReader> ring_;
  bool ring_failed_ = false;
};

}  // namespace falcon::data
