// What the data sets `synthetic` share, whatever the task: made from (seed, index), the same in
// every epoch; nothing is read and nothing left out.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::data {

class SyntheticDataset : public Dataset {
 public:
  std::int64_t size() const override { return count_; }
  std::unique_ptr<ReadScratch> make_scratch() const override;
  const std::vector<SkippedItem>& skipped_at_scan() const override { return none_; }

 protected:
  /// count: samples in an epoch. Throws falcon::Error (kUsage) when it is below 1.
  explicit SyntheticDataset(std::int64_t count);
  /// Throws falcon::Error (kUsage) when a value is below `least`.
  static void need_at_least(std::int64_t least, const char* name, std::int64_t value);

 private:
  std::int64_t count_;
  std::vector<SkippedItem> none_;
};

}  // namespace falcon::data
