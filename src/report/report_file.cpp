#include "report/report_file.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/codec.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "falconbench/errors.h"
#include "report/writable.h"

namespace falcon::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kProbeBytes = 1 << 16;  // a file system without room for this is full

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ExitCode::kUnwritable,
              "the report cannot be written to " + base::printable(path, 400) + ": " + why);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void make_folder(const std::string& path) {
  std::error_code error;
  const fs::path folder = folder_of(path);
  fs::create_directories(folder, error);
  if (error)
    refuse(path, "folder " + base::printable(folder.string(), 200) + ": " + error.message());
}

/// Writes and removes a file in the folder: permissions, read-only and full file systems show here.
void probe_folder(const fs::path& folder, const std::string& path) {
  const std::string probe =
      (folder / (".falconbench-" + std::to_string(::getpid()) + "-probe.tmp")).string();
  try {
    base::write_file_atomically(probe, std::string(kProbeBytes, ' '));
  } catch (const Error& failure) {
    refuse(path, failure.what());
  }
  ::unlink(probe.c_str());
}

std::string fallback_path(const std::string& id) {
  const char* folder = std::getenv("TMPDIR");
  const fs::path base = folder == nullptr || *folder == '\0' ? "/tmp" : folder;
  return (base / ("falconbench-" + id + ".json")).string();
}

std::string checked_text(const base::Value& report) {
  const base::Value value = writable(report);
  std::string text = base::to_json(value, 1);
  text += '\n';
  if (!(base::parse_json(text, "report") == value)) {
    throw Error(ExitCode::kInternal, "the report does not read back as it was written");
  }
  return text;
}

}  // namespace

ReportFile::ReportFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) refuse(path_, "the path is empty");
  make_folder(path_);
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (error && error != std::errc::no_such_file_or_directory) refuse(path_, error.message());
  if (fs::is_directory(status) || path_.back() == '/') refuse(path_, "it is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (::access(path_.c_str(), W_OK) != 0) {
      refuse(path_, std::generic_category().message(errno));
    }
    return;
  }
  std::error_code link_error;  // a path that does not exist yet is an error to symlink_status
  const bool is_link = fs::is_symlink(fs::symlink_status(path_, link_error));
  std::error_code target_error;
  const fs::path target = is_link ? fs::weakly_canonical(path_, target_error) : fs::path(path_);
  if (target_error) refuse(path_, target_error.message());
  probe_folder(folder_of(target), path_);
}

void ReportFile::write(const Report& report) const {
  write_text(to_text(report), report.run.id);
}

void ReportFile::write(const LinksReport& report) const {
  write_text(to_text(report), report.run.id);
}

void ReportFile::write_text(const std::string& text, const std::string& id) const {
  try {
    base::write_file_atomically(path_, text);
    return;
  } catch (const Error& failure) {
    const std::string fallback = fallback_path(id);
    try {
      base::write_file_atomically(fallback, text);
    } catch (const Error& second) {
      refuse(path_, std::string(failure.what()) + "; nor anywhere else: " + second.what());
    }
    refuse(path_, std::string(failure.what()) + "; it was written to " + fallback);
  }
}

std::string to_text(const Report& report) {
  return checked_text(base::to_value(report));
}

std::string to_text(const LinksReport& report) {
  return checked_text(base::to_value(report));
}

}  // namespace falcon::report
