// A part of a sysfs and procfs tree as text:
//   f PATH: VALUE     a file        + TEXT   one more line of the same file
//   l PATH -> TARGET  a symbolic link, relative        # comment
// What has no line does not exist on that machine.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/file_tree.h"

namespace falcon::platform {

struct ManifestEntry {
  std::string path;                   // relative
  std::string text;                   // of a file
  std::optional<std::string> target;  // of a link
};

/// Whether a text looks like one: its first line that is no comment is a line of a file or a link.
bool is_manifest(std::string_view text);

/// Throws Error(kUsage) on a line of another form and on a path or link that leaves the folder.
std::vector<ManifestEntry> parse_manifest(std::string_view text);

/// The tree that it describes. Throws as parse_manifest.
FileTree expand_manifest(std::string_view text);

}  // namespace falcon::platform
