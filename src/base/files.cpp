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

 private:
  int fd_;
};

// The name is short and hidden: it fits wherever the target's does, and no *.json glob finds it.
std::string temporary_name(const fs::path& folder, int attempt) {
  return (folder /
          (".falconbench-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp"))
      .string();
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
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

void make_parent_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(folder_of(path), error);
  if (!error) return;
  throw Error(
      ExitCode::kUnwritable,
      printable(path, 400) + ": cannot be written: its folder cannot be made: " + error.message());
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (fs::is_directory(status)) refuse("is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse(reason(errno));
    return;
  }
  fs::path target = path_;
  if (fs::exists(status) && fs::is_symlink(fs::symlink_status(path_, error))) {
    target = fs::canonical(path_, error);
    if (error) refuse(error.message());
  }
  target_ = target.string();
  open_temporary();
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::refuse(const std::string& why) const {
  throw Error(ExitCode::kUnwritable, printable(path_, 400) + ": cannot be written: " + why);
}

void AtomicFile::open_temporary() {
  const fs::path folder = folder_of(target_);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = temporary_name(folder, attempt);
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) refuse(reason(errno));
  }
  refuse("the folder is full of old temporary files");
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(reason(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (!target_.empty() && ::fsync(descriptor_) != 0 && errno != EINVAL) refuse(reason(errno));
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) refuse(reason(errno));
  if (target_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) refuse(reason(errno));
  temporary_.clear();
  sync_folder(folder_of(target_));
}

void write_file_atomically(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace falcon::base
