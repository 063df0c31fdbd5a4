#include "data/make_images.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/counter_random.h"
#include "base/text.h"
#include "data/image_manifest.h"
#include "data/jpeg_encoder.h"
#include "data/parallel_for.h"
#include "data/textured_picture.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

std::string shown(const fs::path& path) {
  return base::printable(path.native(), 400);
}

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

std::string numbered(const char* format, std::int64_t number) {
  char text[64];
  std::snprintf(text, sizeof text, format, static_cast<long long>(number));
  return text;
}

std::string class_name(int label) {
  return numbered("class_%05lld", label);
}

// Below the set's folder. The first o.train indices are for training.
std::string file_item(const MakeImagesOptions& o, std::int64_t index) {
  const bool is_train = index < o.train;
  const std::string folder = is_train ? "train/" : "val/";
  const std::int64_t number = is_train ? index : index - o.train;
  return folder + class_name(static_cast<int>(index % o.classes)) + numbered("/%08lld.jpg", number);
}

void write_file(const fs::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    throw Error(ExitCode::kHost,
                "cannot write " + shown(path) + ": " + std::generic_category().message(errno));
  }
}

// A folder beside the wanted one, gone again unless it was renamed.
class FolderInWork {
 public:
  explicit FolderInWork(const fs::path& wanted)
      : path_(wanted.native() + ".making-" + std::to_string(getpid())) {}
  ~FolderInWork() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
  throw Error(ExitCode::kHost, "cannot make " + shown(folder) + ": " + error.message());
}

void make_folders(const fs::path& root, const MakeImagesOptions& o) {
  for (int label = 0; label < o.classes; ++label) {
    make_folder(root / "train" / class_name(label));
    if (o.val > 0) make_folder(root / "val" / class_name(label));
  }
}

SetContent write_pictures(const fs::path& root, const MakeImagesOptions& o, int threads,
                          const ProgressFunction& progress) {
  const std::int64_t total = o.train + o.val;
  const int used = thread_count(threads, total);
  std::vector<SetContent> parts(static_cast<std::size_t>(used));
  parallel_for(total, used, [&](int thread, std::int64_t index) {
    const PictureOptions picture = picture_options(o, index);
    const std::vector<std::byte> file =
        encode_jpeg(textured_picture(picture), picture.width, picture.height, o.quality);
    const std::string item = file_item(o, index);
    write_file(root / item, file);
    parts[static_cast<std::size_t>(thread)].add(item, file);
    if (thread == 0 && progress) progress(index + 1, total);
  });
  SetContent content;
  for (const SetContent& part : parts) content.add(part);
  return content;
}

// True when the folder holds what these options make; throws when it holds anything else.
bool is_up_to_date(const fs::path& path, const MakeImagesOptions& options, MadeImages& made) {
  std::error_code error;
  if (!fs::exists(path, error)) return false;
  if (!fs::is_directory(path, error)) {
    throw Error(ExitCode::kUsage, shown(path) + " is not a folder");
  }
  if (fs::is_empty(path, error)) return false;
  const ImageManifest manifest = read_manifest(path);
  if (manifest.options != options_text(options)) {
    throw Error(ExitCode::kUsage, shown(path) + " holds a set made with other options (" +
                                      manifest.options +
                                      "); take another folder, or remove this one");
  }
  const SetContent now = count_set(path);
  if (now.files != manifest.content.files || now.bytes != manifest.content.bytes) {
    throw Error(ExitCode::kUsage,
                shown(path) + " has changed since it was made: " + std::to_string(now.files) +
                    " files of " + std::to_string(now.bytes) + " bytes, made were " +
                    std::to_string(manifest.content.files) + " of " +
                    std::to_string(manifest.content.bytes) + "; remove it to have it made again");
  }
  made = {false, now.files, now.bytes, manifest.content.hash_text()};
  return true;
}

}  // namespace

MadeImages make_images(const fs::path& given, const MakeImagesOptions& options, int threads,
                       const ProgressFunction& progress) {
  check_options(options);
  fs::path path = fs::absolute(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // a/b/ is a/b
  MadeImages made;
  if (is_up_to_date(path, options, made)) return made;
  const FolderInWork in_work(path);
  make_folders(in_work.path(), options);
  const SetContent content = write_pictures(in_work.path(), options, threads, progress);
  write_manifest(in_work.path(), {options_text(options), content});
  std::error_code error;
  fs::rename(in_work.path(), path, error);
  if (error) {
    throw Error(ExitCode::kHost, "cannot rename " + shown(in_work.path()) + " to " + shown(path) +
                                     ": " + error.message());
  }
  return {true, content.files, content.bytes, content.hash_text()};
}

}  // namespace falcon::data
