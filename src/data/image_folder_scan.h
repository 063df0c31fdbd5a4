// What is in an image folder: <root>/<class>/**/*.{jpg,jpeg}. Classes are the folders below the
// root sorted by bytes; their places are the labels, also when one holds no picture. Only headers
// are read. Reasons for leaving an item out:
//   empty, not_jpeg, too_large      by the first bytes
//   other_format                    .png, .webp, .gif, .bmp, .tif, .tiff, .ppm: only JPEG is read
//   folder                          a folder with a picture's name; it is not looked into
//   loop, dangling                  a link to itself, or to nothing
//   folder_link                     a link to a folder inside a class: not followed, so no walk can
//   go in circles not_a_file, unreadable          pipes and devices; no permission no_pictures a
//   class folder without a usable picture
// Links to files, and class folders that are links (not to a folder above), are followed. Other
// names are ignored.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::data {

/// The usable files: names in one block of text, since a full ImageNet has 1.28 million.
class ImageFileList {
 public:
  void add(std::string_view name, std::int32_t label);
  std::int64_t size() const { return static_cast<std::int64_t>(entries_.size()); }
  std::int32_t label(std::int64_t i) const { return entries_[static_cast<std::size_t>(i)].label; }
  /// Path below the class folder.
  std::string_view name(std::int64_t i) const;

 private:
  struct Entry {
    std::uint64_t offset;
    std::uint32_t length;
    std::int32_t label;
  };
  std::vector<Entry> entries_;
  std::string names_;
};

struct ImageFolderScan {
  std::filesystem::path root;
  std::vector<std::string> classes;
  ImageFileList files;               // by class, then by name
  std::int64_t bytes = 0;            // of the usable files
  std::int64_t other_files = 0;      // ignored: no picture by name
  std::vector<SkippedItem> skipped;  // every one

  std::filesystem::path path(std::int64_t i) const;  // of file i
  std::string item(std::int64_t i) const;            // the same below the root
};

/// The classes alone. Throws falcon::Error (kHost) when the folder cannot be read.
std::vector<std::string> class_folders(const std::filesystem::path& root);

/// Throws falcon::Error (kHost) when the folder cannot be read or has no class folder. A scan
/// without a usable picture is returned: the caller says what that means.
ImageFolderScan scan_image_folder(const std::filesystem::path& root, int threads);

}  // namespace falcon::data
