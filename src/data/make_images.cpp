#include "data/make_images.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/counter_random.h"
#include "data/file_kind.h"
#include "data/jpeg_encoder.h"
#include "data/parallel_for.h"
#include "data/textured_picture.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

void check_options(const MakeImagesOptions& o) {
  const auto need = [](bool good, const std::string& text) {
    if (!good) throw Error(ExitCode::kUsage, "making an image folder: " + text);
  };
  need(o.classes >= 1 && o.classes <= 100'000, "classes must be 1 .. 100000");
  need(o.train >= o.classes, "train must be at least the number of classes (" +
                                 std::to_string(o.classes) + "), so that none is empty");
  need(o.val >= 0, "val must be 0 or more");
  need(o.side_min >= 16 && o.side_min <= o.side_mean && o.side_mean <= o.side_max &&
           o.side_max <= 8000,
       "the longer side needs 16 <= min <= mean <= max <= 8000 pixels");
  need(o.quality >= 1 && o.quality <= 100, "quality must be 1 .. 100");
}

// The part of the range below the mean is chosen with the probability that makes the mean right.
int draw_side(const MakeImagesOptions& o, base::CounterRandom& random) {
  if (o.side_min == o.side_max) return o.side_mean;
  const double below = static_cast<double>(o.side_max - o.side_mean) / (o.side_max - o.side_min);
  const bool is_below = random.uniform() < below;
  const double side =
      is_below ? random.uniform(o.side_min, o.side_mean) : random.uniform(o.side_mean, o.side_max);
  return std::clamp(static_cast<int>(side + 0.5), o.side_min, o.side_max);
}

PictureOptions picture_options(const MakeImagesOptions& o, std::int64_t index) {
  base::CounterRandom random({o.seed, 1, static_cast<std::uint64_t>(index)});
  const int longer = draw_side(o, random);
  const int shorter = longer * 3 / 4;
  const bool is_upright = random.uniform() < 0.3;
  PictureOptions picture;
  picture.width = is_upright ? shorter : longer;
  picture.height = is_upright ? longer : shorter;
  picture.classes = o.classes;
  picture.label = static_cast<int>(index % o.classes);
  picture.seed = o.seed;
  picture.index = index;
  return picture;
}

// Below the set's folder. The first o.train indices are for training.
std::string file_item(const MakeImagesOptions& o, std::int64_t index) {
  const bool is_train = index < o.train;
  const std::int64_t number = is_train ? index : index - o.train;
  char name[32];
  std::snprintf(name, sizeof name, "/%08lld.jpg", static_cast<long long>(number));
  return (is_train ? "train/" : "val/") + made_class_name(index % o.classes) + name;
}

void make_folders(const fs::path& root, const MakeImagesOptions& o) {
  for (int label = 0; label < o.classes; ++label) {
    make_set_folder(root / "train" / made_class_name(label));
    if (o.val > 0) make_set_folder(root / "val" / made_class_name(label));
  }
}

SetContent write_pictures(const fs::path& root, const MakeImagesOptions& o, int threads,
                          const ProgressFunction& progress) {
  const std::int64_t total = o.train + o.val;
  const int used = thread_count(threads, total);
  const SetWriter writer(root);
  std::vector<SetContent> parts(static_cast<std::size_t>(used));
  parallel_for(total, used, [&](int thread, std::int64_t index) {
    const PictureOptions picture = picture_options(o, index);
    const std::vector<std::byte> file =
        encode_jpeg(textured_picture(picture), picture.width, picture.height, o.quality);
    writer.write(file_item(o, index), file, parts[static_cast<std::size_t>(thread)]);
    if (thread == 0 && progress) progress(index + 1, total);
  });
  SetContent content;
  for (const SetContent& part : parts) content.add(part);
  return content;
}

std::string options_text(const MakeImagesOptions& o) {
  return "train=" + std::to_string(o.train) + " val=" + std::to_string(o.val) +
         " classes=" + std::to_string(o.classes) + " side=" + std::to_string(o.side_min) + "/" +
         std::to_string(o.side_mean) + "/" + std::to_string(o.side_max) +
         " quality=" + std::to_string(o.quality) + " seed=" + std::to_string(o.seed);
}

}  // namespace

MadeSet make_images(const fs::path& path, const MakeImagesOptions& options, int threads,
                    const ProgressFunction& progress) {
  check_options(options);
  const SetRecipe recipe{"imagefolder", options_text(options), is_jpeg_name};
  return make_set(path, recipe, progress, [&](const fs::path& folder) {
    make_folders(folder, options);
    return write_pictures(folder, options, threads, progress);
  });
}

MadeSet make_image_set(const fs::path& path, const MakeSpec& make, std::uint64_t seed,
                       const ProgressFunction& progress) {
  MakeImagesOptions options;
  options.train = make.train;
  options.val = make.val;
  options.classes = static_cast<int>(make.classes.value());
  options.side_mean = static_cast<int>(make.side.value());
  options.side_min = options.side_mean * 4 / 5;
  options.side_max = options.side_mean * 6 / 5;
  options.quality = static_cast<int>(make.quality.value());
  options.seed = seed;
  return make_images(path, options, 0, progress);
}

}  // namespace falcon::data
