// The kinds of files about a machine: how each is known, and what reads it into a Dump.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "platform/dump/dump.h"

namespace falcon::platform {

using ReadInto = void (*)(const std::string& file, std::string_view text, Dump& dump);

/// Text that is one dump as a whole.
struct WholeKind {
  const char* title;
  bool is_lines;  // one that ends within a line is cut off
  bool (*is)(std::string_view text);
  ReadInto read;
};

/// Output of a program, which may stand after a prompt or a title, or after other output, in one
/// file. It goes on until another one begins.
struct OutputKind {
  const char* title;
  bool (*begins)(std::string_view line);
  bool (*restarts)(std::string_view line);  // whether a second output begins; null: never
  bool finds_its_end;                       // its reader refuses an output that is cut off
  ReadInto read;
};

/// In the order in which they are tried.
std::span<const WholeKind> whole_kinds();
std::span<const OutputKind> output_kinds();

/// Whether a line that can begin one kind does so where another output, or one of the same kind, is
/// open.
bool begins_another(std::string_view line, const OutputKind& begun, const OutputKind& open);

/// Throws Error(kUsage) when there is a tree of this source already.
void add_tree(const std::string& file, PciTree tree, Dump& dump);
/// sysfs and procfs below a root.
void add_root(const std::string& file, const Root& root, Dump& dump);

}  // namespace falcon::platform
