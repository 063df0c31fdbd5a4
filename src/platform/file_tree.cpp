#include "platform/file_tree.h"

#include <filesystem>

#include "base/text.h"

namespace falcon::platform {
namespace {

constexpr int kMostLinks = 40;  // as the kernel has it

std::string normal(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  while (text.ends_with('/')) text.pop_back();
  return text == "." ? "" : text;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace

void FileTree::add_folders(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    entries_[path.substr(0, slash)];
  }
}

void FileTree::add_file(const std::string& path, std::string text) {
  add_folders(path);
  entries_[path] = {std::move(text), {}};
}

void FileTree::add_link(const std::string& path, const std::string& target) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
  const std::string whole = normal(joined(folder, target));
  add_folders(path);
  add_folders(whole);
  entries_[whole];
  entries_[path] = {{}, whole};
}

std::optional<std::string> FileTree::resolved(std::string_view path) const {
  std::string rest = normal(std::string(path));
  for (int links = 0; links < kMostLinks; ++links) {
    std::string place;
    bool is_moved = false;
    for (std::size_t begin = 0; begin < rest.size() && !is_moved;) {
      const std::size_t end = std::min(rest.find('/', begin), rest.size());
      place = joined(place, rest.substr(begin, end - begin));
      const auto entry = entries_.find(place);
      if (entry == entries_.end()) return {};
      if (entry->second.link) {
        rest = normal(*entry->second.link + rest.substr(end));
        is_moved = true;
      }
      begin = end + 1;
    }
    if (!is_moved) return place;
  }
  return {};
}

std::optional<std::string> FileTree::read(std::string_view path) const {
  const auto place = resolved(path);
  if (!place || place->empty()) return {};
  return entries_.at(*place).text;
}

std::vector<std::string> FileTree::names(std::string_view folder) const {
  std::vector<std::string> names;
  const auto place = resolved(folder);
  if (!place) return names;
  const std::string before = place->empty() ? "" : *place + "/";
  for (auto entry = entries_.lower_bound(before); entry != entries_.end(); ++entry) {
    if (!entry->first.starts_with(before)) break;
    const std::string name = entry->first.substr(before.size());
    if (!name.empty() && name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

}  // namespace falcon::platform
