#include "base/files.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace falcon::base {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

class Removal {
 public:
  explicit Removal(std::string path) : path_(std::move(path)) {}
  ~Removal() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  void cancel() { path_.clear(); }

 private:
  std::string path_;
};

[[noreturn]] void refuse_write(const std::string& path, const std::string& why) {
  throw Error(ExitCode::kUnwritable, printable(path, 400) + ": cannot be written: " + why);
}

void write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_write(path, reason(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The name is short and hidden: it fits wherever the target's does, and no *.json glob finds it.
std::string temporary_name(const fs::path& folder, int attempt) {
  return (folder /
          (".falconbench-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp"))
      .string();
}

void sync_folder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // some network file systems cannot sync a folder; the file itself is synced by then
  if (fd.get() >= 0) (void)::fsync(fd.get());
}

}  // namespace

std::string read_file(const std::string& path, ExitCode code, std::size_t limit) {
  const auto refuse = [&](const std::string& why) {
    throw Error(code, printable(path, 400) + ": " + why);
  };
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    refuse(errno == ENOENT ? "no such file" : "cannot be opened: " + reason(errno));
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) refuse("cannot be read: " + reason(errno));
  if (S_ISDIR(status.st_mode)) refuse("is a directory, expected a file");
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("cannot be read: " + reason(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > limit) refuse("is larger than " + std::to_string(limit) + " bytes");
  }
}

void write_file_atomically(const std::string& path, std::string_view text) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) refuse_write(path, "is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    const Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0) refuse_write(path, reason(errno));
    return write_all(device.get(), text, path);
  }
  fs::path target = path;
  if (fs::exists(status) && fs::is_symlink(fs::symlink_status(path, error))) {
    target = fs::canonical(path, error);
    if (error) refuse_write(path, error.message());
  }
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::string temporary;
  int opened = -1;
  for (int attempt = 0; opened < 0 && attempt < 100; ++attempt) {
    temporary = temporary_name(folder, attempt);
    opened = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (opened < 0 && errno != EEXIST) refuse_write(path, reason(errno));
  }
  if (opened < 0) refuse_write(path, "the folder is full of old temporary files");
  Descriptor file(opened);
  Removal removal(temporary);
  write_all(file.get(), text, path);
  if (::fsync(file.get()) != 0 && errno != EINVAL) refuse_write(path, reason(errno));
  if (file.close() != 0) refuse_write(path, reason(errno));
  if (::rename(temporary.c_str(), target.c_str()) != 0) refuse_write(path, reason(errno));
  removal.cancel();
  sync_folder(folder);
}

}  // namespace falcon::base
