// The files of a host below a root folder: "/" for this machine, another folder, or a tree in
// memory that stands in for one. Every read says why it failed; nothing throws on a missing or
// unreadable file.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "falconbench/measured.h"
#include "platform/file_tree.h"

namespace falcon::platform {

class Root {
 public:
  explicit Root(std::string path = "/");
  explicit Root(FileTree tree);

  bool is_this_host() const { return path_ == "/"; }
  /// The full path of a path below the root, given without a leading slash: at("proc/stat"). Of a
  /// tree in memory a path that is not there.
  std::string at(std::string_view relative) const;
  /// The whole file. Missing: "/proc/stat: No such file or directory" (the path without the root).
  Measured<std::string> read(std::string_view relative) const;
  /// Its text without surrounding blanks; missing too when that is empty.
  Measured<std::string> text(std::string_view relative) const;
  /// Its whole number; missing too when it holds something else.
  Measured<std::int64_t> integer(std::string_view relative) const;
  bool exists(std::string_view relative) const;
  /// Names in a folder, sorted; empty when there is none.
  std::vector<std::string> names(std::string_view folder) const;
  /// The path below the root that a symbolic link leads to in the end, or "" (also for a link out
  /// of the root).
  std::string resolved(std::string_view relative) const;

 private:
  std::string path_;
  std::shared_ptr<const FileTree> tree_;  // null: the folder
};

/// Whole text as a whole number (blanks around it allowed).
Measured<std::int64_t> parse_integer(std::string_view text);
/// "0-3,8" -> {0, 1, 2, 3, 8}; sorted, without repeats. Missing when malformed.
Measured<std::vector<int>> parse_cpu_list(std::string_view text);
/// The number after a word that begins a line, as in meminfo ("MemTotal:  123 kB" with "MemTotal:")
/// and vmstat ("pgfault 12").
Measured<std::int64_t> number_after(std::string_view text, std::string_view word);

}  // namespace falcon::platform
