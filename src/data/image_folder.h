// Data set `imagefolder`: JPEG files in class folders (data/image_folder_scan.h says which files
// count). Layout for training: images u8 [S, S, 3] (RGB, NHWC; RandomResizedCrop), labels i64, flip
// u8 (1: mirror it on the device). For evaluation: images (Resize, CenterCrop) and labels.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "data/catalog.h"
#include "data/file_access.h"
#include "data/image_folder_scan.h"
#include "data/skip_log.h"
#include "falconbench/dataset.h"

namespace falcon::data {

class ImageFolder : public Dataset {
 public:
  /// Scans options.path / options.subfolder. Throws falcon::Error: kHost when there is no usable
  /// picture (with counts by reason), kUsage when there are more class folders than options.classes
  /// (0: any number), kHost when one is none of options.class_subfolder's.
  explicit ImageFolder(const DatasetOptions& options);

  std::int64_t size() const override { return scan_.files.size(); }
  std::vector<TensorLayout> layout() const override;
  std::unique_ptr<ReadScratch> make_scratch() const override;
  /// The first read of a file decodes it to its end, so that damage anywhere is found and what is
  /// damaged does not depend on the crop; later reads stop below the crop.
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch& scratch,
            ReadCost& cost, SkippedItem& skipped) const override;
  const std::vector<SkippedItem>& skipped_at_scan() const override { return skipped_.kept(); }
  std::map<std::string, std::int64_t> skip_counts_at_scan() const override {
    return skipped_.counts();
  }
  std::map<std::string, std::string> facts() const override;
  std::int64_t file_count() const override { return size(); }
  std::filesystem::path file(std::int64_t index) const override { return scan_.path(index); }
  FileReading reading() const override { return access_.reading(); }
  const ImageFolderScan& scan() const { return scan_; }

 private:
  std::int64_t label(std::int64_t index) const;

  std::vector<std::int64_t> labels_;  // of scan_'s classes; empty: their places
  ImageFolderScan scan_;              // its list of skipped items moves to skipped_
  SkipLog skipped_;
  FileAccess access_;
  int image_size_;
  bool evaluation_;
  std::unique_ptr<std::atomic<bool>[]> is_whole_;  // files decoded to their end without a complaint
};

std::unique_ptr<Dataset> make_image_folder(const DatasetOptions& options);

}  // namespace falcon::data
