// Whole files in and out, with errors that name the file and the reason.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "falconbench/errors.h"

namespace falcon::base {

/// Largest file that read_file takes unless told otherwise: specs, system files and reports.
inline constexpr std::size_t kMaxTextFileBytes = 256u << 20;

/// The bytes of a file, also of a pipe. Throws Error(code) naming the path when it is missing, a
/// directory, unreadable or larger than limit bytes.
std::string read_file(const std::string& path, ExitCode code = ExitCode::kUsage,
                      std::size_t limit = kMaxTextFileBytes);

/// Makes the folders that a file at path needs. Throws Error(kUnwritable) naming the path.
void make_parent_folders(const std::string& path);

/// A file that appears whole or not at all: written beside its place, synced, then renamed over it.
/// A symbolic link stays one; a device or pipe is written
/// directly. All functions throw Error(kUnwritable) naming the path; the old file is then
/// untouched, and without commit() nothing is left. One thread.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  /// Once, at the end.
  void commit();

 private:
  void open_temporary();
  [[noreturn]] void refuse(const std::string& why) const;

  std::string path_;       // as given, for messages
  std::string target_;     // what is renamed over; empty: written directly
  std::string temporary_;  // empty once it is gone
  int descriptor_ = -1;
};

/// An AtomicFile of this text: readers see the old file or the new one, never a part.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace falcon::base
