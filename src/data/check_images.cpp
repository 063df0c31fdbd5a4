#include "data/check_images.h"

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "data/check_pictures.h"
#include "data/image_folder_scan.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> folders_of(const fs::path& path) {
  std::vector<std::string> folders;
  for (const char* name : {"train", "val"}) {
    std::error_code error;
    if (fs::is_directory(path / name, error)) folders.emplace_back(name);
  }
  if (folders.empty()) folders.emplace_back(".");
  return folders;
}

SetContent check_folder(const ImageFolderScan& scan, const std::string& prefix, int threads,
                        const ProgressFunction& progress, ImageFolderCheck& check) {
  const SetContent content =
      check_pictures({.count = scan.files.size(),
                      .path = [&](std::int64_t i) { return scan.path(i); },
                      .item = [&](std::int64_t i) { return prefix + scan.item(i); }},
                     threads, progress, check.left_out);
  for (const SkippedItem& item : scan.skipped) {
    check.left_out.push_back({prefix + item.item, item.reason, item.detail});
  }
  return content;
}

}  // namespace

ImageFolderCheck check_images(const fs::path& path, int threads, const ProgressFunction& progress) {
  ImageFolderCheck check;
  check.folders = folders_of(path);
  SetContent content;
  std::vector<std::string> classes;
  for (const std::string& folder : check.folders) {
    const bool is_path_itself = folder == ".";
    const ImageFolderScan scan = scan_image_folder(is_path_itself ? path : path / folder, threads);
    content.add(check_folder(scan, is_path_itself ? "" : folder + "/", threads, progress, check));
    check.other_files += scan.other_files;
    if (classes.empty()) classes = scan.classes;
    if (scan.classes != classes) {
      check.warnings.push_back(folder + " has other class folders than " + check.folders.front() +
                               ": the labels do not mean the same");
    }
  }
  check.usable_files = content.files;
  check.usable_bytes = content.bytes;
  check.classes = static_cast<std::int64_t>(classes.size());
  std::ranges::sort(check.left_out, {}, &SkippedItem::item);
  std::string warning = manifest_warning(path, content);
  if (!warning.empty()) check.warnings.push_back(std::move(warning));
  return check;
}

SetCheck check_image_set(const fs::path& path) {
  ImageFolderCheck images = check_images(path);
  char summary[200];
  std::snprintf(
      summary, sizeof summary,
      "%lld usable files in %lld classes, %.1f MB; %zu left out, %lld other files ignored",
      static_cast<long long>(images.usable_files), static_cast<long long>(images.classes),
      static_cast<double>(images.usable_bytes) / 1e6, images.left_out.size(),
      static_cast<long long>(images.other_files));
  return {std::move(images.left_out), std::move(images.warnings), summary};
}

}  // namespace falcon::data
