// A whole file in memory that is used again for the next file.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace falcon::data {

class FileBytes {
 public:
  /// Reads the first `limit` bytes of a regular file. False with `problem` set ("Permission
  /// denied", "is no regular file", ...). Never waits for a pipe or a device.
  bool read(const std::filesystem::path& path, std::string& problem,
            std::size_t limit = static_cast<std::size_t>(-1));
  std::span<const std::byte> bytes() const { return {buffer_.get(), size_}; }
  /// Size of the file on disk when it was opened.
  std::size_t file_size() const { return file_size_; }

 private:
  bool read_from(int descriptor, std::size_t limit, std::string& problem);

  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t file_size_ = 0;
};

}  // namespace falcon::data
