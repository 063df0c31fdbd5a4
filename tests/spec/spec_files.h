// Spec files for tests: written to a folder of their own, and what loading them says.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "spec/load.h"

namespace falcon::spec {

/// A folder for one test, gone with this object.
class SpecFolder {
 public:
  SpecFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("falcon_spec_" + std::string(test->test_suite_name()) + "_" + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~SpecFolder() { std::filesystem::remove_all(folder_); }
  SpecFolder(const SpecFolder&) = delete;
  SpecFolder& operator=(const SpecFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

/// Everything that load says against these, one fault a line, without the folder of the file; "" if
/// it says nothing.
inline std::string refusal(const std::string& config,
                           const std::vector<std::string>& settings = {}) {
  try {
    load(config, settings);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    std::string text = error.what();
    const std::string folder = std::filesystem::path(config).parent_path().string() + "/";
    for (std::size_t at; (at = text.find(folder)) != std::string::npos;) {
      text.erase(at, folder.size());
    }
    return text;
  }
}

}  // namespace falcon::spec
