#include "data/image_folder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "data/file_bytes.h"
#include "data/image_transform.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

enum Stream : std::uint64_t {
  kCropStream = 0x63726F70,
  kFlipStream = 0x666C6970
};  // "crop", "flip"

class ImageScratch : public ReadScratch {
 public:
  FileBytes file;
  ImageReader reader;
};

base::CounterRandom random_of(const SampleKey& key, Stream stream) {
  return base::CounterRandom({key.seed, stream, static_cast<std::uint64_t>(key.epoch),
                              static_cast<std::uint64_t>(key.index)});
}

SkipLog log_of(std::vector<SkippedItem> items) {
  SkipLog log;
  for (SkippedItem& item : items) log.add(std::move(item));
  return log;
}

void check_usable(const ImageFolderScan& scan, const SkipLog& skipped,
                  const DatasetOptions& options) {
  const std::string folder = "data folder " + base::printable(scan.root.native(), 400);
  if (scan.files.size() == 0) {
    throw Error(ExitCode::kHost, folder + ": no usable JPEG file in " +
                                     std::to_string(scan.classes.size()) +
                                     " class folders; left out: " + skipped.summary());
  }
  const std::int64_t found = static_cast<std::int64_t>(scan.classes.size());
  if (options.classes > 0 && found > options.classes) {
    throw Error(ExitCode::kUsage, folder + ": it has " + std::to_string(found) +
                                      " class folders, but the model has " +
                                      std::to_string(options.classes) + " classes");
  }
}

}  // namespace

namespace {

/// What each class is called there.
std::vector<std::int64_t> labels_in(const std::filesystem::path& folder,
                                    const ImageFolderScan& scan) {
  const std::vector<std::string> known = class_folders(folder);
  std::vector<std::int64_t> labels;
  for (const std::string& name : scan.classes) {
    const auto found = std::lower_bound(known.begin(), known.end(), name);
    if (found == known.end() || *found != name) {
      throw Error(ExitCode::kHost, "data folder " + base::printable(scan.root.native(), 400) +
                                       ": its class folder " + base::printable(name) +
                                       " is none of " + base::printable(folder.native(), 400));
    }
    labels.push_back(found - known.begin());
  }
  return labels;
}

}  // namespace

ImageFolder::ImageFolder(const DatasetOptions& options)
    : scan_(scan_image_folder(
          options.subfolder.empty() ? options.path : options.path / options.subfolder,
          options.threads)),
      skipped_(log_of(std::move(scan_.skipped))),
      access_(options.io, scan_.files.size() > 0 ? scan_.path(0) : scan_.root),
      image_size_(static_cast<int>(options.image_size)),
      evaluation_(options.evaluation) {
  check_usable(scan_, skipped_, options);
  if (!options.class_subfolder.empty()) {
    labels_ = labels_in(options.path / options.class_subfolder, scan_);
  }
  is_whole_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(size()));
}

std::int64_t ImageFolder::label(std::int64_t index) const {
  const std::int32_t place = scan_.files.label(index);
  return labels_.empty() ? place : labels_[static_cast<std::size_t>(place)];
}

std::vector<TensorLayout> ImageFolder::layout() const {
  std::vector<TensorLayout> tensors = {
      {"images", ElementType::kUint8, {image_size_, image_size_, 3}},
      {"labels", ElementType::kInt64, {}},
  };
  if (!evaluation_) tensors.push_back({"flip", ElementType::kUint8, {}});
  return tensors;
}

std::unique_ptr<ReadScratch> ImageFolder::make_scratch() const {
  return std::make_unique<ImageScratch>();
}

bool ImageFolder::read(const SampleKey& key, std::span<std::byte* const> destinations,
                       ReadScratch& scratch, ReadCost& cost, SkippedItem& skipped) const {
  auto& [file, reader] = static_cast<ImageScratch&>(scratch);
  const double start_s = steady_now_s();
  std::string problem;
  const bool have_bytes = file.read(scan_.path(key.index), problem, access_);
  const double read_s = steady_now_s();
  cost.io_s += read_s - start_s;
  cost.file_bytes += static_cast<std::int64_t>(file.bytes().size());
  if (!have_bytes) {
    skipped = {scan_.item(key.index), "unreadable", problem};
    return false;
  }
  std::atomic<bool>& is_whole = is_whole_[static_cast<std::size_t>(key.index)];
  const auto extent = is_whole.load(std::memory_order_relaxed) ? JpegDecoder::Extent::kUpToRectangle
                                                               : JpegDecoder::Extent::kWholeFile;
  bool good = reader.open(file.bytes());
  if (good) {
    base::CounterRandom random = random_of(key, kCropStream);
    const int width = reader.width();
    const int height = reader.height();
    const ImageTransform transform =
        evaluation_ ? evaluation_transform(width, height, image_size_)
                    : crop_and_resize(random_crop(width, height, random), image_size_);
    good = reader.read(transform, extent, reinterpret_cast<std::uint8_t*>(destinations[0]));
  }
  cost.decode_s += steady_now_s() - read_s;
  if (!good) {
    skipped = {scan_.item(key.index), reader.problem().reason, reader.problem().detail};
    return false;
  }
  is_whole.store(true, std::memory_order_relaxed);
  const std::int64_t class_label = label(key.index);
  std::memcpy(destinations[1], &class_label, sizeof class_label);
  if (!evaluation_)
    *destinations[2] = static_cast<std::byte>(random_of(key, kFlipStream).next() & 1);
  return true;
}

std::map<std::string, std::string> ImageFolder::facts() const {
  return {{"format", "imagefolder"},
          {"folder", scan_.root.native()},
          {"classes", std::to_string(scan_.classes.size())},
          {"files", std::to_string(scan_.files.size())},
          {"bytes", std::to_string(scan_.bytes)},
          {"other_files_ignored", std::to_string(scan_.other_files)},
          {"left_out_at_scan", std::to_string(skipped_.count())}};
}

std::unique_ptr<Dataset> make_image_folder(const DatasetOptions& options) {
  return std::make_unique<ImageFolder>(options);
}

}  // namespace falcon::data
