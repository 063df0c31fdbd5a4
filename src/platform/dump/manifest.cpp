#include "platform/dump/manifest.h"

#include <filesystem>
#include <utility>

#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/dump/lines.h"

namespace falcon::platform {
namespace {

namespace fs = std::filesystem;

using Entry = ManifestEntry;

std::optional<Entry> parse_file(std::string_view line) {
  if (!line.starts_with("f ")) return {};
  const std::size_t colon = line.find(": ");
  const bool is_empty = colon == std::string_view::npos && line.ends_with(":");
  if (colon == std::string_view::npos && !is_empty) return {};
  Entry entry;
  entry.path = line.substr(2, (is_empty ? line.size() - 1 : colon) - 2);
  entry.text = is_empty ? "\n" : std::string(line.substr(colon + 2)) + "\n";
  return entry;
}

std::optional<Entry> parse_link(std::string_view line) {
  const std::size_t arrow = line.find(" -> ");
  if (!line.starts_with("l ") || arrow == std::string_view::npos) return {};
  Entry entry;
  entry.path = line.substr(2, arrow - 2);
  entry.target = line.substr(arrow + 4);
  return entry;
}

std::optional<Entry> parse_entry(std::string_view line) {
  if (auto file = parse_file(line)) return file;
  return parse_link(line);
}

// Relative, and not above the folder at any point of the way.
bool stays_below(const fs::path& path) {
  if (path.empty() || path.is_absolute()) return false;
  int depth = 0;
  for (const fs::path& part : path) {
    if (part == "..") --depth;
    if (part != ".." && part != ".") ++depth;
    if (depth < 0) return false;
  }
  return true;
}

}  // namespace

std::vector<Entry> parse_manifest(std::string_view text) {
  std::vector<Entry> entries;
  int number = 0;
  for (const std::string& line : clean_lines(text)) {
    ++number;
    const auto refuse = [&](const std::string& why) {
      throw Error(ExitCode::kUsage, "line " + std::to_string(number) + " of a sysfs manifest " +
                                        why + ": " + base::printable(line));
    };
    if (line.empty() || line.starts_with("#")) continue;
    if (line == "+" || line.starts_with("+ ")) {
      if (entries.empty() || entries.back().target) refuse("continues no file");
      entries.back().text += (line.size() > 2 ? line.substr(2) : "") + "\n";
      continue;
    }
    auto entry = parse_entry(line);
    if (!entry) refuse("is neither `f PATH: VALUE` nor `l PATH -> TARGET`");
    const fs::path path = entry->path;
    if (!stays_below(path)) refuse("leaves its folder");
    if (entry->target && !stays_below(path.parent_path() / *entry->target)) {
      refuse("leads out of its folder");
    }
    entries.push_back(*std::move(entry));
  }
  return entries;
}

bool is_manifest(std::string_view text) {
  for (const std::string& line : clean_lines(text.substr(0, 4096))) {
    if (line.empty() || line.starts_with("#")) continue;
    const auto entry = parse_entry(line);
    return entry.has_value() && stays_below(entry->path);
  }
  return false;
}

FileTree expand_manifest(std::string_view text) {
  FileTree tree;
  for (Entry& entry : parse_manifest(text)) {
    if (entry.target) {
      tree.add_link(entry.path, *entry.target);
    } else {
      tree.add_file(entry.path, std::move(entry.text));
    }
  }
  return tree;
}

}  // namespace falcon::platform
