// Files and symbolic links below a folder that is not there: a part of sysfs and procfs, in memory.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace falcon::platform {

/// Paths are relative, with single slashes. Folders exist as far as something lies in them or a
/// link leads there.
class FileTree {
 public:
  /// A file or link at the same path is replaced.
  void add_file(const std::string& path, std::string text);
  /// target: relative to the link's folder.
  void add_link(const std::string& path, const std::string& target);

  /// The path that this one leads to after all links; nothing when it is not there.
  std::optional<std::string> resolved(std::string_view path) const;
  /// Text of a file; nothing when the path leads to none.
  std::optional<std::string> read(std::string_view path) const;
  /// Names in a folder, sorted.
  std::vector<std::string> names(std::string_view folder) const;

 private:
  struct Entry {
    std::optional<std::string> text;  // of a file
    std::optional<std::string> link;  // whole path that a link leads to, not followed further
  };
  void add_folders(const std::string& path);

  std::map<std::string, Entry> entries_;  // folders too, without text and link
};

}  // namespace falcon::platform
