// A host that is not there: a folder in place of "/", and boards of the fake NVML.
#pragma once
#include <memory>
#include <string>

#include "platform/nvml.h"

namespace falcon::test {

/// A temporary folder, removed at the end.
class FakeRoot {
 public:
  FakeRoot();
  ~FakeRoot();
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  const std::string& path() const { return path_; }
  /// Paths are below the root, without a leading slash; folders are made as needed. A file that is
  /// there is replaced at once (written beside it and renamed).
  void file(const std::string& relative, const std::string& text);
  void link(const std::string& relative, const std::string& target);
  void remove(const std::string& relative);
  /// Lines of platform/dump/manifest.h.
  void expand(const std::string& manifest);
  /// tests/data/machines/<name>/sysfs.manifest.
  void expand_machine(const std::string& name);

 private:
  std::string path_;
};

/// Boards as JSON (fake_nvml/fake_nvml.md); sets FALCONBENCH_FAKE_NVML while it lives.
class FakeNvml {
 public:
  explicit FakeNvml(const std::string& json);
  ~FakeNvml();
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  /// Another world from the next call on.
  void replace(const std::string& json);
  std::shared_ptr<const platform::Nvml> open() const;
  static std::string library();

 private:
  FakeRoot folder_;
};

/// Sets a variable while it lives.
class WithVariable {
 public:
  WithVariable(const char* name, const std::string& value);
  ~WithVariable();
  WithVariable(const WithVariable&) = delete;
  WithVariable& operator=(const WithVariable&) = delete;

 private:
  const char* name_;
  std::unique_ptr<std::string> before_;
};

}  // namespace falcon::test
