#include "data/folder_lock.h"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {
constexpr std::chrono::milliseconds kTryAgain{100};
}

FolderLock::FolderLock(const std::filesystem::path& folder, const std::function<void()>& waiting)
    : path_(folder.native() + ".making") {
  do {  // its owner may have removed the file that this waited for
    file_.open(path_);
    while (flock(file_.descriptor, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return;  // the file system has no locks
      waiting();
      std::this_thread::sleep_for(kTryAgain);
    }
  } while (!is_named());
}

FolderLock::~FolderLock() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);  // before it is unlocked: who waits looks again
}

bool FolderLock::is_named() const {
  struct stat held {};
  struct stat named {};
  return fstat(file_.descriptor, &held) == 0 && stat(path_.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

void FolderLock::File::open(const std::filesystem::path& path) {
  close();
  descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor >= 0) return;
  throw Error(ExitCode::kHost, "cannot make " + base::printable(path.native(), 400) + ": " +
                                   std::generic_category().message(errno));
}

void FolderLock::File::close() {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace falcon::data
