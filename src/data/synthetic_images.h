// Data set `synthetic` for classification: random bytes and labels, a pure function of (seed,
// index), the same in every epoch; reads nothing. Same layout as `imagefolder`.
#pragma once
#include <cstdint>

#include "data/catalog.h"
#include "data/synthetic_dataset.h"

namespace falcon::data {

class SyntheticImages : public SyntheticDataset {
 public:
  /// Throws falcon::Error (kUsage) for a count, size or number of classes below 1.
  explicit SyntheticImages(const DatasetOptions& options);

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
