// Data set `synthetic` for classification: random bytes and labels, a pure function of (seed,
// index), the same in every epoch; reads nothing. Same layout as `imagefolder`.
#pragma once
#include <cstdint>

#include "data/catalog.h"
#include "falconbench/dataset.h"

namespace falcon::data {

class SyntheticImages : public Dataset {
 public:
  /// Throws falcon::Error (kUsage) for a count, size or number of classes below 1.
  explicit SyntheticImages(const DatasetOptions& options);

  std::int64_t size() const override { return count_; }
  std::vector<TensorLayout> layout() const override;
  std::unique_ptr<ReadScratch> make_scratch() const override;
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch& scratch,
            ReadCost& cost, SkippedItem& skipped) const override;
  const std::vector<SkippedItem>& skipped_at_scan() const override { return none_; }
  std::map<std::string, std::string> facts() const override;

 private:
  std::int64_t count_;
  std::int64_t image_size_;
  std::int64_t classes_;
  bool evaluation_;
  std::vector<SkippedItem> none_;
};

}  // namespace falcon::data
