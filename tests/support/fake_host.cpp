#include "support/fake_host.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "platform/dump/manifest.h"

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
  for (const platform::ManifestEntry& entry : platform::parse_manifest(manifest)) {
    if (entry.target) {
      link(entry.path, *entry.target);
    } else {
      file(entry.path, entry.text);
    }
  }
}

void FakeRoot::expand_machine(const std::string& name) {
  expand(read_whole(std::string(FALCON_TEST_MACHINES) + "/" + name + "/sysfs.manifest"));
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
