// Decodes all pictures of a part of a set, on several threads.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/made_set.h"
#include "falconbench/dataset.h"

namespace falcon::data {

/// Pictures 0 .. count - 1; path and item are called from several threads.
struct PictureList {
  std::int64_t count = 0;
  std::function<std::filesystem::path(std::int64_t)> path;
  std::function<std::string(std::int64_t)> item;  // path below the set's folder, with '/'
};

/// What the whole files hold; the others are added to left_out, in no order. threads 0: one per
/// core.
SetContent check_pictures(const PictureList& pictures, int threads,
                          const ProgressFunction& progress, std::vector<SkippedItem>& left_out);

}  // namespace falcon::data
