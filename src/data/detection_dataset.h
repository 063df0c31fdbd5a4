// Data sets `coco` and `yolo`: pictures with boxes, as data/detection_layout.h says.
//
// M is fixed for a set, from the number of boxes of its pictures (most_targets()); boxes beyond it
// are dropped and counted (targets_dropped in facts()). In an evaluation there is room for all.
//
// options.augment says how training samples are made: "mosaic", four pictures with zoom, shift, HSV
// and mirroring as the YOLOv5 recipe (data/mosaic.h); "single", the same with one letterboxed
// picture; "none", the letterboxed picture as for evaluation (data/letterbox.h). EXIF orientation
// is not applied. Every picture of a mosaic is read from storage whole, also what lies out of view.
//
// With options.draw_on_device a sample of the first two has, instead of images, what these are
// drawn of (data/tiles.h): pixels, and behind the targets tiles, axes and gains.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "data/detection_set.h"
#include "data/file_access.h"
#include "data/jpeg_rows.h"
#include "data/mosaic.h"
#include "falconbench/dataset.h"

namespace falcon::data {

class DetectionDataset : public Dataset {
 public:
  DetectionDataset(DetectionSet set, const DatasetOptions& options);

  std::int64_t size() const override { return static_cast<std::int64_t>(set_.pictures.size()); }
  std::vector<TensorLayout> layout() const override;
  std::unique_ptr<ReadScratch> make_scratch() const override;
  /// Until a file has been decoded to its end once, every read does so: what is damaged does not
  /// depend on what is seen of it. From then on decoding begins just above what is seen. In a
  /// mosaic a damaged picture other than the sample's own is replaced by the next usable one of the
  /// set; it is counted when its own turn comes.
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch& scratch,
            ReadCost& cost, SkippedItem& skipped) const override;
  const std::vector<SkippedItem>& skipped_at_scan() const override { return set_.skipped.kept(); }
  std::map<std::string, std::int64_t> skip_counts_at_scan() const override {
    return set_.skipped.counts();
  }
  std::map<std::string, std::string> facts() const override;
  std::int64_t file_count() const override { return size(); }
  std::filesystem::path file(std::int64_t index) const override { return set_.path(index); }
  FileReading reading() const override { return access_.reading(); }
  const DetectionSet& set() const { return set_; }

 private:
  class Sample;  // one read() in work
  enum class Augment { kMosaic, kSingle, kNone };
  /// What is known of a picture's file once it has been decoded to its end without a complaint.
  struct WholeFile {
    enum State { kUnknown, kIsWhole, kHasRows };
    std::atomic<State> state{kUnknown};
    JpegRows rows;  // of state kHasRows
  };

  DetectionSet set_;
  FileAccess access_;
  std::string format_;
  int image_size_;
  bool evaluation_;
  std::string augment_name_;
  Augment augment_;
  bool draw_on_device_;
  std::int64_t most_targets_;
  mutable std::atomic<std::int64_t> targets_dropped_{0};
  std::unique_ptr<WholeFile[]> files_;
};

/// M for pictures with so many boxes each: their largest number where a sample is one picture; for
/// a mosaic six standard deviations above the mean of four pictures, at most four times the
/// largest. A multiple of 8, at least 8.
std::int64_t most_targets(const DetectionSet& set, bool is_mosaic);

std::unique_ptr<Dataset> make_coco(const DatasetOptions& options);
std::unique_ptr<Dataset> make_yolo(const DatasetOptions& options);

}  // namespace falcon::data
