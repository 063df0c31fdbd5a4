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

/// Writes text to a temporary file in the same folder, syncs it, and renames it over path: readers
/// see the old file or the new one, never a part. A symbolic link stays one; a device or pipe is
/// written directly. Throws Error(kUnwritable) naming the path; the old file is then untouched.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace falcon::base
