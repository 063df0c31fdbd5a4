#include "data/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace falcon::data {
namespace {

constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

std::string error_text(int number) {
  return std::generic_category().message(number);
}

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
}

struct Closer {
  int descriptor;
  ~Closer() { close(descriptor); }
};

}  // namespace

std::unique_ptr<std::byte[], AlignedFree> aligned_bytes(std::size_t bytes) {
  void* memory =
      std::aligned_alloc(kDirectAlignment, std::max(rounded_up(bytes), kDirectAlignment));
  if (memory == nullptr) throw std::bad_alloc();
  return std::unique_ptr<std::byte[], AlignedFree>(static_cast<std::byte*>(memory));
}

bool FileBytes::read(const std::filesystem::path& path, std::string& problem, std::size_t limit) {
  size_ = 0;
  file_size_ = 0;
  const int descriptor = open(path.c_str(), kFlags);
  if (descriptor < 0) {
    problem = error_text(errno);
    return false;
  }
  const Closer closer{descriptor};
  return start(descriptor, limit, problem) && read_rest(descriptor, problem);
}

bool FileBytes::read(const std::filesystem::path& path, std::string& problem,
                     const FileAccess& access) {
  size_ = 0;
  file_size_ = 0;
  const bool is_direct = access.io() == FileIo::kDirect;
  int descriptor = open(path.c_str(), is_direct ? kFlags | O_DIRECT : kFlags);
  if (descriptor < 0 && is_direct && errno == EINVAL) {
    access.note_fallback("O_DIRECT is refused: " + error_text(EINVAL));
    descriptor = open(path.c_str(), kFlags);
  }
  if (descriptor < 0) {
    problem = error_text(errno);
    return false;
  }
  const Closer closer{descriptor};
  if (!start(descriptor, static_cast<std::size_t>(-1), problem)) return false;
  if (is_direct) read_past_cache(descriptor, access);
  if (access.io() == FileIo::kUring) read_by_ring(descriptor, access);
  return read_rest(descriptor, problem);
}

/// Sets the sizes and makes room.
bool FileBytes::start(int descriptor, std::size_t limit, std::string& problem) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) {
    problem = error_text(errno);
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    problem = "is no regular file";
    return false;
  }
  file_size_ = static_cast<std::size_t>(status.st_size);
  wanted_ = std::min(limit, file_size_);
  if (wanted_ > capacity_) {
    buffer_.reset();
    capacity_ = 0;
    buffer_ = aligned_bytes(wanted_);
    capacity_ = rounded_up(wanted_);
  }
  return true;
}

/// What the other ways have not read: all of it, where there was none.
bool FileBytes::read_rest(int descriptor, std::string& problem) {
  while (size_ < wanted_) {
    const ssize_t got =
        pread(descriptor, buffer_.get() + size_, wanted_ - size_, static_cast<off_t>(size_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      problem = error_text(errno);
      return false;
    }
    if (got == 0) break;  // became shorter meanwhile
    size_ += static_cast<std::size_t>(got);
  }
  return true;
}

/// Whole blocks, the last one beyond the end of the file. Leaves the descriptor without O_DIRECT
/// when something is left for read_rest().
void FileBytes::read_past_cache(int descriptor, const FileAccess& access) {
  while (size_ < wanted_ && size_ % kDirectAlignment == 0) {
    const ssize_t got = pread(descriptor, buffer_.get() + size_, rounded_up(wanted_ - size_),
                              static_cast<off_t>(size_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) access.note_fallback("an O_DIRECT read failed: " + error_text(errno));
    if (got <= 0) break;
    size_ = std::min(size_ + static_cast<std::size_t>(got), wanted_);
  }
  if (size_ < wanted_) fcntl(descriptor, F_SETFL, kFlags & ~O_CLOEXEC);
}

void FileBytes::read_by_ring(int descriptor, const FileAccess& access) {
  std::string refusal;
  if (ring_ == nullptr && !ring_failed_) ring_ = UringReader::make(refusal);
  if (ring_ == nullptr) {
    ring_failed_ = true;
    access.note_fallback(refusal.empty() ? "this thread has no ring" : refusal);
    return;
  }
  const UringRead read = ring_->read(descriptor, {buffer_.get(), wanted_});
  if (read.error != 0) {
    access.note_fallback("an io_uring read failed: " + error_text(read.error));
    return;
  }
  size_ = read.bytes;
}

}  // namespace falcon::data
