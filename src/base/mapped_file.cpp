#include "base/mapped_file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace falcon::base {
namespace {

struct Closer {
  int descriptor;
  ~Closer() { ::close(descriptor); }
};

}  // namespace

MappedFile::MappedFile(const std::string& path, ExitCode code) {
  const auto refuse = [&](const std::string& why) {
    throw Error(code, printable(path, 400) + ": " + why);
  };
  const auto reason = [] { return std::generic_category().message(errno); };
  // O_NONBLOCK: a pipe is refused below, not waited for
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse(errno == ENOENT ? "no such file" : "cannot be opened: " + reason());
  const Closer closer{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) refuse("cannot be read: " + reason());
  if (S_ISDIR(status.st_mode)) refuse("is a directory, expected a file");
  if (!S_ISREG(status.st_mode)) refuse("is no regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;  // nothing to map
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) refuse("cannot be mapped: " + reason());
  bytes_ = {static_cast<const std::byte*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace falcon::base
