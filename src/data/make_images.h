// Makes an image folder (<path>/train and /val, class folders, JPEG files) of made-up pictures.
#pragma once
#include <cstdint>
#include <filesystem>

#include "data/made_set.h"
#include "falconbench/spec_data.h"

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

/// make_set() of data/made_set.h with the pictures of these options. Throws as it does, and kUsage
/// for options out of range. threads 0: one per core.
MadeSet make_images(const std::filesystem::path& path, const MakeImagesOptions& options,
                    int threads = 0, const ProgressFunction& progress = {});

/// The same from data.make, where sides vary by a fifth around make.side. REQUIRES: every field of
/// make that imagefolder takes is set.
MadeSet make_image_set(const std::filesystem::path& path, const MakeSpec& make, std::uint64_t seed,
                       const ProgressFunction& progress);

}  // namespace falcon::data
