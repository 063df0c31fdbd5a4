#include "data/image_folder_scan.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "data/file_bytes.h"
#include "data/file_kind.h"
#include "data/parallel_for.h"
#include "data/picture_head.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

struct Found {
  std::string name;  // below the class folder
  std::size_t file_bytes = 0;
  std::optional<SkippedItem> skipped;
};

struct ClassListing {
  std::vector<Found> pictures;
  std::vector<SkippedItem> skipped;
  std::int64_t other_files = 0;
};

std::string shown(const fs::path& path) {
  return base::printable(path.native(), 400);
}

Error folder_error(const fs::path& path, const std::string& problem) {
  return Error(ExitCode::kHost, "data folder " + shown(path) + ": " + problem);
}

// True when following the link leads to the root or above it: walking there would come back here.
bool leads_above(const fs::path& link, const fs::path& root) {
  std::error_code error;
  const fs::path target = fs::canonical(link, error);
  if (error) return false;
  const fs::path here = fs::canonical(root, error);
  return !error && std::ranges::mismatch(target, here).in1 == target.end();
}

std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) entries.push_back(*at);
  if (error) throw folder_error(folder, "it cannot be read (" + error.message() + ")");
  return entries;
}

std::vector<std::string> class_names(const fs::path& root, std::vector<SkippedItem>& skipped) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : entries_of(root)) {
    std::error_code error;
    if (!entry.is_directory(error)) continue;
    const std::string name = entry.path().filename().native();
    if (entry.is_symlink(error) && leads_above(entry.path(), root)) {
      skipped.push_back({name, "loop", "a link to a folder above it"});
    } else {
      names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

class ClassWalk {
 public:
  ClassWalk(const fs::path& folder, std::string item_prefix)
      : folder_(folder), item_prefix_(std::move(item_prefix)) {}

  ClassListing walk() {
    list(folder_, "");
    std::ranges::sort(listing_.pictures, {}, &Found::name);
    return std::move(listing_);
  }

 private:
  void skip(const std::string& name, std::string reason, std::string detail) {
    listing_.skipped.push_back({item_prefix_ + name, std::move(reason), std::move(detail)});
  }

  void list(const fs::path& folder, const std::string& prefix) {
    for (const fs::directory_entry& entry : entries_of(folder)) {
      add(entry, prefix + entry.path().filename().native());
    }
  }

  void add(const fs::directory_entry& entry, const std::string& name) {
    std::error_code error;
    const bool is_link = entry.is_symlink(error);
    const fs::file_status status = entry.status(error);
    const bool is_picture = is_jpeg_name(name);
    if (status.type() == fs::file_type::directory) {
      if (is_picture) return skip(name, "folder", "a folder with the name of a picture");
      if (is_link) return skip(name, "folder_link", "a link to a folder is not followed");
      return list(entry.path(), name + "/");
    }
    if (is_other_picture_name(name)) return skip(name, "other_format", "only JPEG is read");
    if (!is_picture) {
      ++listing_.other_files;
    } else if (error == std::errc::too_many_symbolic_link_levels) {
      skip(name, "loop", "a link that leads to itself");
    } else if (status.type() == fs::file_type::not_found) {
      skip(name, "dangling", "a link to a file that is not there");
    } else if (error) {
      skip(name, "unreadable", error.message());
    } else if (status.type() != fs::file_type::regular) {
      skip(name, "not_a_file", "no regular file");
    } else {
      listing_.pictures.push_back({name, 0, std::nullopt});
    }
  }

  fs::path folder_;
  std::string item_prefix_;
  ClassListing listing_;
};

void check_head(const fs::path& folder, const std::string& item_prefix, Found& found,
                FileBytes& buffer) {
  const PictureHead head = read_picture_head(folder / found.name, buffer);
  found.file_bytes = head.file_bytes;
  if (head.problem) {
    found.skipped =
        SkippedItem{item_prefix + found.name, head.problem->reason, head.problem->detail};
  }
}

void check_heads(const ImageFolderScan& scan, std::vector<ClassListing>& listings, int threads) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t c = 0; c < listings.size(); ++c) {
    for (std::size_t i = 0; i < listings[c].pictures.size(); ++i) all.emplace_back(c, i);
  }
  const std::int64_t count = static_cast<std::int64_t>(all.size());
  const int used = thread_count(threads, count);
  std::vector<FileBytes> buffers(static_cast<std::size_t>(used));
  parallel_for(count, used, [&](int thread, std::int64_t i) {
    const auto [c, picture] = all[static_cast<std::size_t>(i)];
    check_head(scan.root / scan.classes[c], scan.classes[c] + "/", listings[c].pictures[picture],
               buffers[static_cast<std::size_t>(thread)]);
  });
}

void take_listing(ImageFolderScan& scan, std::size_t c, ClassListing& listing) {
  scan.other_files += listing.other_files;
  for (SkippedItem& item : listing.skipped) scan.skipped.push_back(std::move(item));
  bool any = false;
  for (Found& found : listing.pictures) {
    if (found.skipped) {
      scan.skipped.push_back(std::move(*found.skipped));
      continue;
    }
    any = true;
    scan.files.add(found.name, static_cast<std::int32_t>(c));
    scan.bytes += static_cast<std::int64_t>(found.file_bytes);
  }
  if (!any)
    scan.skipped.push_back({scan.classes[c], "no_pictures", "a class without a usable picture"});
}

}  // namespace

void ImageFileList::add(std::string_view name, std::int32_t label) {
  entries_.push_back({names_.size(), static_cast<std::uint32_t>(name.size()), label});
  names_ += name;
}

std::string_view ImageFileList::name(std::int64_t i) const {
  const Entry& entry = entries_[static_cast<std::size_t>(i)];
  return std::string_view(names_).substr(entry.offset, entry.length);
}

std::string ImageFolderScan::item(std::int64_t i) const {
  std::string text = classes[static_cast<std::size_t>(files.label(i))];
  text += '/';
  text += files.name(i);
  return text;
}

fs::path ImageFolderScan::path(std::int64_t i) const {
  return root / item(i);
}

std::vector<std::string> class_folders(const fs::path& root) {
  std::vector<SkippedItem> skipped;
  return class_names(root, skipped);
}

ImageFolderScan scan_image_folder(const fs::path& root, int threads) {
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    throw folder_error(root, fs::exists(root, error) ? "it is not a folder" : "it does not exist");
  }
  ImageFolderScan scan;
  scan.root = root;
  scan.classes = class_names(root, scan.skipped);
  if (scan.classes.empty()) {
    throw folder_error(root, "it holds no class folder (expected: <folder>/<class>/*.jpg)");
  }
  std::vector<ClassListing> listings(scan.classes.size());
  const std::int64_t count = static_cast<std::int64_t>(scan.classes.size());
  parallel_for(count, thread_count(threads, count), [&](int, std::int64_t i) {
    const std::size_t c = static_cast<std::size_t>(i);
    listings[c] = ClassWalk(root / scan.classes[c], scan.classes[c] + "/").walk();
  });
  check_heads(scan, listings, threads);
  for (std::size_t c = 0; c < listings.size(); ++c) take_listing(scan, c, listings[c]);
  return scan;
}

}  // namespace falcon::data
