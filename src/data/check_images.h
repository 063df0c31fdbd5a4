// Decodes every file of an image folder and says what is wrong with it. Writes nothing.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/made_set.h"
#include "falconbench/dataset.h"

namespace falcon::data {

struct ImageFolderCheck {
  std::vector<std::string> folders;  // looked at: train, val, or "." for the folder itself
  std::int64_t usable_files = 0;
  std::int64_t usable_bytes = 0;
  std::int64_t classes = 0;      // of the first folder
  std::int64_t other_files = 0;  // ignored: no picture by name
  std::vector<SkippedItem>
      left_out;  // every one, sorted by item; item is the path below the given folder
  std::vector<std::string>
      warnings;  // e.g. train and val have different classes; changed since it was made
};

/// `path`: a folder with train and/or val in it, or class folders themselves. Throws falcon::Error
/// (kHost) when there is nothing to check. threads 0: one per core.
ImageFolderCheck check_images(const std::filesystem::path& path, int threads = 0,
                              const ProgressFunction& progress = {});

/// The same, summed up.
SetCheck check_image_set(const std::filesystem::path& path);

}  // namespace falcon::data
