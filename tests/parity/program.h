// Runs the parity program as a process on a folder of changed reference files.
#pragma once
#include <filesystem>
#include <string>

#include "support/reference_set.h"

namespace falcon::test {

/// A file of the shipped copy, which the changes of these tests are made for.
Json shipped(const std::string& name);

/// A folder below the temporary one, removed at the end.
class ReferenceFolder {
 public:
  explicit ReferenceFolder(const std::string& name);
  ReferenceFolder(const ReferenceFolder&) = delete;
  ReferenceFolder& operator=(const ReferenceFolder&) = delete;
  ~ReferenceFolder();
  void write(const std::string& name, const Json& json) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct ProgramResult {
  int exit_code = -1;
  std::string output;  // both streams
};

/// The parity program on this folder, tests limited by a GoogleTest filter.
ProgramResult run_parity(const ReferenceFolder& folder, const std::string& filter);

}  // namespace falcon::test
