#include "data/file_access.h"

#include <cerrno>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "data/file_bytes.h"
#include "data/uring_reader.h"
#include "falconbench/spec_data.h"

namespace falcon::data {
namespace {

std::string error_text(int number) {
  return std::generic_category().message(number);
}

std::string uring_refusal() {
  std::string refusal;
  UringReader::make(refusal);
  return refusal;
}

}  // namespace

std::string direct_refusal(const std::filesystem::path& file) {
  struct statfs system {};
  // Newer kernels accept O_DIRECT on these and read from memory all the same.
  if (statfs(file.c_str(), &system) == 0 &&
      (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)) {
    return "the files lie in memory (tmpfs): no device can be read";
  }
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECT);
  if (descriptor < 0) return "O_DIRECT is refused by the file system: " + error_text(errno);
  const std::unique_ptr<std::byte[], AlignedFree> block = aligned_bytes(kDirectAlignment);
  const ssize_t got = pread(descriptor, block.get(), kDirectAlignment, 0);
  const int problem = errno;
  close(descriptor);
  return got < 0 ? "an O_DIRECT read fails: " + error_text(problem) : "";
}

FileAccess::FileAccess(const std::string& asked, const std::filesystem::path& example) {
  if (asked == kDirectIo) {
    refusal_ = direct_refusal(example);
    if (refusal_.empty()) io_ = FileIo::kDirect;
  } else if (asked == kUringIo) {
    refusal_ = uring_refusal();
    if (refusal_.empty()) io_ = FileIo::kUring;
  }
}

void FileAccess::note_fallback(const std::string& reason) const {
  if (fallbacks_.fetch_add(1, std::memory_order_relaxed) > 0) return;
  const std::lock_guard lock(mutex_);
  first_fallback_ = reason;
}

FileReading FileAccess::reading() const {
  FileReading out;
  out.used = io_ == FileIo::kDirect ? kDirectIo : io_ == FileIo::kUring ? kUringIo : kBufferedIo;
  out.fallback = refusal_;
  const std::int64_t count = fallbacks_.load(std::memory_order_relaxed);
  if (count == 0) return out;
  const std::lock_guard lock(mutex_);
  out.fallback = std::to_string(count) + " reads were buffered: " + first_fallback_;
  return out;
}

}  // namespace falcon::data
