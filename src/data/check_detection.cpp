#include "data/check_detection.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "data/check_pictures.h"
#include "data/coco_set.h"
#include "data/file_bytes.h"
#include "data/file_kind.h"
#include "data/make_detection.h"
#include "data/yolo_set.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

// Everything about a set that grows part by part.
class SetChecker {
 public:
  explicit SetChecker(fs::path path) : path_(std::move(path)) {}

  void add_part(const std::string& part, const DetectionSet& set) {
    const fs::path below = set.folder.lexically_relative(path_);
    pictures_.add(check_pictures(
        {.count = static_cast<std::int64_t>(set.pictures.size()),
         .path = [&](std::int64_t i) { return set.path(i); },
         .item =
             [&](std::int64_t i) {
               return (below / set.pictures[static_cast<std::size_t>(i)].name).generic_string();
             }},
        0, {}, check_.left_out));
    take_skipped(part, set.skipped);
    boxes_ += set.boxes.size();
    compare_classes(part, set.classes);
  }

  /// is_counted: of the set's files; pictures were counted when they were decoded.
  SetCheck finish(bool (*is_counted)(std::string_view)) {
    std::ranges::stable_sort(check_.left_out, {}, &SkippedItem::item);
    SetContent content = pictures_;
    FileBytes file;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_)) {
      const std::string name = entry.path().filename().native();
      std::string problem;
      if (is_jpeg_name(name) || !is_counted(name) || !file.read(entry.path(), problem)) continue;
      content.add(entry.path().lexically_relative(path_).generic_string(), file.bytes());
    }
    std::string warning = manifest_warning(path_, content);
    if (!warning.empty()) check_.warnings.push_back(std::move(warning));
    char summary[200];
    std::snprintf(
        summary, sizeof summary,
        "%lld usable pictures with %zu boxes in %zu classes, %.1f MB; %lld left out",
        static_cast<long long>(pictures_.files), boxes_, classes_.size(),
        static_cast<double>(pictures_.bytes) / 1e6,
        static_cast<long long>(check_.left_out.size()) + static_cast<long long>(unnamed_));
    check_.summary = summary;
    return std::move(check_);
  }

 private:
  void take_skipped(const std::string& part, const SkipLog& skipped) {
    for (const SkippedItem& item : skipped.kept()) {
      check_.left_out.push_back({part + ": " + item.item, item.reason, item.detail});
    }
    const std::int64_t unnamed = skipped.count() - static_cast<std::int64_t>(skipped.kept().size());
    if (unnamed == 0) return;
    unnamed_ += unnamed;
    check_.warnings.push_back(part + ": " + std::to_string(unnamed) +
                              " more items are left out, not named here");
  }

  void compare_classes(const std::string& part, const std::vector<std::string>& classes) {
    if (first_part_.empty()) {
      first_part_ = part;
      classes_ = classes;
    } else if (classes != classes_) {
      check_.warnings.push_back(part + " has other classes than " + first_part_ +
                                ": the labels do not mean the same");
    }
  }

  fs::path path_;
  SetCheck check_;
  SetContent pictures_;
  std::size_t boxes_ = 0;
  std::int64_t unnamed_ = 0;
  std::string first_part_;
  std::vector<std::string> classes_;
};

// With the crowds of an evaluation: they are no fault. Any number of classes will do.
DatasetOptions options_for(const fs::path& path, const std::string& part) {
  DatasetOptions options;
  options.path = path;
  options.subfolder = part;
  options.classes = 0;
  options.evaluation = true;
  return options;
}

// Names of the entries of a folder, sorted; none when it is not there.
std::vector<std::string> entries_of(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    names.push_back(at->path().filename().native());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> coco_parts(const fs::path& path) {
  constexpr std::string_view kBegin = "instances_";
  constexpr std::string_view kEnd = ".json";
  std::vector<std::string> parts;
  for (const std::string& name : entries_of(path / "annotations")) {
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) continue;
    parts.push_back(name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size()));
  }
  if (parts.empty()) {
    throw Error(ExitCode::kHost, "data folder " + base::printable(path.native(), 400) +
                                     ": no file annotations/instances_<part>.json");
  }
  return parts;
}

std::vector<std::string> yolo_parts(const fs::path& path) {
  std::vector<std::string> parts;
  std::error_code error;
  for (const std::string& name : entries_of(path / "images")) {
    if (fs::is_directory(path / "images" / name, error)) parts.push_back(name);
  }
  for (const std::string& name : entries_of(path)) {
    if (fs::is_directory(path / name / "images", error)) parts.push_back(name);
  }
  if (parts.empty()) parts.emplace_back();  // images itself, or a refusal that names the folders
  return parts;
}

}  // namespace

SetCheck check_coco_set(const fs::path& path) {
  SetChecker checker(path);
  for (const std::string& part : coco_parts(path)) {
    checker.add_part(part, read_coco_set(options_for(path, part)));
  }
  return checker.finish(is_coco_file);
}

SetCheck check_yolo_set(const fs::path& path) {
  SetChecker checker(path);
  for (const std::string& part : yolo_parts(path)) {
    checker.add_part(part.empty() ? "images" : part, read_yolo_set(options_for(path, part)));
  }
  return checker.finish(is_yolo_file);
}

}  // namespace falcon::data
