#include "data/check_images.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "data/file_bytes.h"
#include "data/image_folder_scan.h"
#include "data/parallel_for.h"
#include "data/picture_head.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

struct CheckThread {
  FileBytes file;
  JpegDecoder decoder;
  SetContent content;
  std::vector<SkippedItem> left_out;
};

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
  const std::int64_t count = scan.files.size();
  std::vector<CheckThread> workers(static_cast<std::size_t>(thread_count(threads, count)));
  parallel_for(count, static_cast<int>(workers.size()), [&](int t, std::int64_t i) {
    CheckThread& thread = workers[static_cast<std::size_t>(t)];
    const std::string item = prefix + scan.item(i);
    if (const auto problem = whole_file_problem(scan.path(i), thread.file, thread.decoder)) {
      thread.left_out.push_back({item, problem->reason, problem->detail});
    } else {
      thread.content.add(item, thread.file.bytes());
    }
    if (t == 0 && progress) progress(i + 1, count);
  });
  SetContent content;
  for (CheckThread& worker : workers) {
    content.add(worker.content);
    std::ranges::move(worker.left_out, std::back_inserter(check.left_out));
  }
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
