#include "support/fake_host.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace falcon::test {
namespace {

namespace fs = std::filesystem;
constexpr const char* kVariable = "FALCONBENCH_FAKE_NVML";

std::string read_whole(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

FakeRoot::FakeRoot() {
  std::string pattern = (fs::temp_directory_path() / "falcon-root-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

FakeRoot::~FakeRoot() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void FakeRoot::file(const std::string& relative, const std::string& text) {
  const fs::path path = fs::path(path_) / relative;
  fs::create_directories(path.parent_path());
  const fs::path beside = path.string() + ".new";
  std::ofstream(beside) << text;
  fs::rename(beside, path);
}

void FakeRoot::link(const std::string& relative, const std::string& target) {
  const fs::path path = fs::path(path_) / relative;
  fs::create_directories(path.parent_path());
  fs::create_symlink(target, path);
}

void FakeRoot::remove(const std::string& relative) {
  fs::remove_all(fs::path(path_) / relative);
}

void FakeRoot::expand(const std::string& manifest) {
  std::istringstream lines(manifest);
  std::string path;
  std::string text;
  const auto finish = [&] {
    if (!path.empty()) file(path, text);
    path.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("+ ") || line == "+") {
      text += (line.size() > 2 ? line.substr(2) : "") + "\n";
      continue;
    }
    finish();
    if (line.empty() || line.starts_with("#")) continue;
    const std::size_t arrow = line.find(" -> ");
    if (line.starts_with("l ") && arrow != std::string::npos) {
      link(line.substr(2, arrow - 2), line.substr(arrow + 4));
      continue;
    }
    const std::size_t colon = line.find(": ");
    const bool is_empty_file = colon == std::string::npos && line.ends_with(":");
    if (!line.starts_with("f ") || (colon == std::string::npos && !is_empty_file)) {
      throw std::runtime_error("not a manifest line: " + line);
    }
    path = line.substr(2, (is_empty_file ? line.size() - 1 : colon) - 2);
    text = is_empty_file ? "\n" : line.substr(colon + 2) + "\n";
  }
  finish();
}

void FakeRoot::expand_machine(const std::string& name) {
  expand(read_whole(std::string(FALCON_TEST_ROOTS) + "/" + name + ".manifest"));
}

FakeNvml::FakeNvml(const std::string& json) {
  replace(json);
  setenv(kVariable, (folder_.path() + "/world.json").c_str(), 1);
}

FakeNvml::~FakeNvml() {
  unsetenv(kVariable);
}

void FakeNvml::replace(const std::string& json) {
  folder_.file("world.json", json);
}

std::shared_ptr<const platform::Nvml> FakeNvml::open() const {
  return std::make_shared<const platform::Nvml>(library());
}

std::string FakeNvml::library() {
  return FALCON_FAKE_NVML;
}

WithVariable::WithVariable(const char* name, const std::string& value) : name_(name) {
  if (const char* before = std::getenv(name)) before_ = std::make_unique<std::string>(before);
  setenv(name, value.c_str(), 1);
}

WithVariable::~WithVariable() {
  if (before_) {
    setenv(name_, before_->c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

}  // namespace falcon::test
