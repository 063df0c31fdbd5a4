#include "data/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace falcon::data {
namespace {

std::string error_text() {
  return std::generic_category().message(errno);
}

struct Closer {
  int descriptor;
  ~Closer() { close(descriptor); }
};

}  // namespace

bool FileBytes::read(const std::filesystem::path& path, std::string& problem, std::size_t limit) {
  size_ = 0;
  file_size_ = 0;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    problem = error_text();
    return false;
  }
  const Closer closer{descriptor};
  return read_from(descriptor, limit, problem);
}

bool FileBytes::read_from(int descriptor, std::size_t limit, std::string& problem) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) {
    problem = error_text();
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    problem = "is no regular file";
    return false;
  }
  file_size_ = static_cast<std::size_t>(status.st_size);
  const std::size_t wanted = std::min(limit, file_size_);
  if (wanted > capacity_) {
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(wanted);
    capacity_ = wanted;
  }
  while (size_ < wanted) {
    const ssize_t got = ::read(descriptor, buffer_.get() + size_, wanted - size_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      problem = error_text();
      return false;
    }
    if (got == 0) break;  // became shorter meanwhile
    size_ += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace falcon::data
