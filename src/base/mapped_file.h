// A file as memory: pages come in when they are touched, so a file larger than what is needed of it
// costs nothing.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "falconbench/errors.h"

namespace falcon::base {

/// Read-only. Must not be cut while it is mapped (touching the lost part is a SIGBUS).
class MappedFile {
 public:
  /// Throws Error(code) naming the path when it is missing, no regular file, or cannot be mapped.
  explicit MappedFile(const std::string& path, ExitCode code = ExitCode::kUsage);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace falcon::base
