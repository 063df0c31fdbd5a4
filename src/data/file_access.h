// How whole files of a data set are read: as data.loader.io asks, if the system can do it. That is
// tried once, on one of the files; where it fails files are read through the page cache with
// read(2), and why is kept.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "falconbench/dataset.h"

namespace falcon::data {

enum class FileIo { kBuffered, kDirect, kUring };

/// Thread-safe after construction.
class FileAccess {
 public:
  FileAccess() = default;
  /// asked: a word of data.loader.io. example: a file of the set.
  FileAccess(const std::string& asked, const std::filesystem::path& example);

  FileIo io() const { return io_; }
  /// A file, or all files of one thread, had to be read buffered all the same.
  void note_fallback(const std::string& reason) const;
  FileReading reading() const;

 private:
  FileIo io_ = FileIo::kBuffered;
  std::string refusal_;  // of the way that was asked for
  mutable std::atomic<std::int64_t> fallbacks_{0};
  mutable std::mutex mutex_;
  mutable std::string first_fallback_;
};

/// Why O_DIRECT cannot be used on the file; "": it can.
std::string direct_refusal(const std::filesystem::path& file);

}  // namespace falcon::data
