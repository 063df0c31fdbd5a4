// Makes an image folder (<path>/train and /val, class folders, JPEG files) of made-up pictures, and
// checks one.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "data/skip_log.h"

namespace falcon::data {

/// What to make. The same options give the same bytes, with any number of threads.
struct MakeImagesOptions {
  std::int64_t train = 1000;  // pictures in all classes together
  std::int64_t val = 200;
  int classes = 10;
  int side_min =
      400;  // longer side in pixels: drawn between min and max so that the mean is side_mean;
  int side_mean = 500;  // the shorter is 3/4 of it, 3 of 10 pictures are upright
  int side_max = 600;
  int quality = 90;  // of the JPEG files, 1..100; the default gives about 110 KB a picture
  std::uint64_t seed = 0;
};

struct MadeImages {
  bool made = false;  // false: the folder held exactly this already, nothing was done
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::string content_hash;  // of names and bytes of all files
};

/// Called now and then by one thread with the files done.
using ProgressFunction = std::function<void(std::int64_t done, std::int64_t total)>;

/// Fills an empty or absent folder: writes beside it and renames when all is there, so an
/// interrupted call leaves no half set. A folder that holds a set made with the same options,
/// unchanged in number and bytes, is left as it is. Throws falcon::Error: kUsage for options out of
/// range, and for a folder that holds anything else; kHost when writing fails. threads 0: one per
/// core.
MadeImages make_images(const std::filesystem::path& path, const MakeImagesOptions& options,
                       int threads = 0, const ProgressFunction& progress = {});

/// Name of the file that says what a made folder holds.
inline constexpr const char* kManifestName = "falconbench_data.json";

}  // namespace falcon::data
