// Makers of one folder take turns: processes of this host, or of hosts that share the file system.
#pragma once
#include <filesystem>
#include <functional>

namespace falcon::data {

class FolderLock {
 public:
  /// Waits for its turn, and calls `waiting` every tenth of a second meanwhile; what that throws
  /// ends it. The lock is one of the kernel (flock) on a file beside the folder, so one whose owner
  /// died is gone. Where the file system gives none, nobody waits. Throws falcon::Error (kHost)
  /// naming the file when it cannot be made.
  FolderLock(const std::filesystem::path& folder, const std::function<void()>& waiting);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  /// Removes the file.
  ~FolderLock();

 private:
  /// Closed, and with it unlocked, also when the constructor throws.
  struct File {
    int descriptor = -1;
    ~File() { close(); }
    void open(const std::filesystem::path& path);
    void close();
  };
  bool is_named() const;

  const std::filesystem::path path_;
  File file_;
};

}  // namespace falcon::data
