// Data set `synthetic` for detection: random bytes with random boxes, a pure function of (seed,
// index), the same in every epoch; reads nothing.
//
// Layout as data/detection_layout.h says, without crowds and padding. Number and size of the boxes
// are distributed as in COCO train2017 (118287 pictures, 1021 of them without a box, 860001 boxes,
// at most 93 a picture; 41 % smaller than 32 x 32 pixels, 34 % up to 96 x 96): the number is
// geometric, the root of the area log-normal.
#pragma once
#include <cstdint>

#include "data/catalog.h"
#include "data/synthetic_dataset.h"

namespace falcon::data {

class SyntheticBoxes : public SyntheticDataset {
 public:
  static constexpr std::int64_t kMostTargets = 93;

  /// Throws falcon::Error (kUsage) for a count, size or number of classes below 1.
  explicit SyntheticBoxes(const DatasetOptions& options);

  std::vector<TensorLayout> layout() const override;
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch& scratch,
            ReadCost& cost, SkippedItem& skipped) const override;
  std::map<std::string, std::string> facts() const override;

 private:
  std::int64_t image_size_;
  std::int64_t classes_;
  bool evaluation_;
};

}  // namespace falcon::data
