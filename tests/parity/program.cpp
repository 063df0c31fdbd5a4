#include "parity/program.h"

#include <array>
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace falcon::test {

namespace fs = std::filesystem;

Json shipped(const std::string& name) {
  return read_reference(name, shipped_reference_dir()).value().json;
}

ReferenceFolder::ReferenceFolder(const std::string& name)
    : path_(fs::path(testing::TempDir()) / name) {
  fs::remove_all(path_);
  fs::create_directories(path_);
}

ReferenceFolder::~ReferenceFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ReferenceFolder::write(const std::string& name, const Json& json) const {
  std::ofstream(path_ / name) << json;
}

ProgramResult run_parity(const ReferenceFolder& folder, const std::string& filter) {
  const std::string command = "FALCONBENCH_REFERENCE_DIR='" + folder.path().string() + "' '" +
                              FALCON_PARITY_PROGRAM + "' '--gtest_filter=" + filter + "' 2>&1";
  ProgramResult result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return result;
  }
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), size);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace falcon::test
