// The place where the report will be written. Made before anything is started, so that hours of
// work are not lost to a bad path.
#pragma once
#include <string>
#include <string_view>

#include "falconbench/links.h"
#include "falconbench/report.h"

namespace falcon::report {

class ReportFile {
 public:
  /// Makes missing parent folders and proves that a file can be made beside path. Throws
  /// Error(kUnwritable) naming the path and the reason. An existing report stays as it is; a
  /// directory is refused; a device or pipe is taken when it can be opened.
  explicit ReportFile(std::string path);

  const std::string& path() const { return path_; }

  /// Writes the report: temporary file, fsync, rename. The text is parsed back before anything is
  /// replaced. When the place has become unwritable the report goes to a new file in TMPDIR (else
  /// /tmp), and the Error(kUnwritable) thrown names that file.
  void write(const Report& report) const;
  void write(const LinksReport& report) const;

 private:
  void write_text(const std::string& text, const std::string& id) const;

  std::string path_;
};

/// The text that write() puts into the file, always strict JSON (writable.h). Throws
/// Error(kInternal) when it does not read back as it was written.
std::string to_text(const Report& report);
std::string to_text(const LinksReport& report);

}  // namespace falcon::report
