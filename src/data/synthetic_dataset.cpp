#include "data/synthetic_dataset.h"

#include <string>

#include "falconbench/errors.h"

namespace falcon::data {

SyntheticDataset::SyntheticDataset(std::int64_t count) : count_(count) {
  need_at_least(1, "number of samples", count_);
}

std::unique_ptr<ReadScratch> SyntheticDataset::make_scratch() const {
  return std::make_unique<ReadScratch>();
}

void SyntheticDataset::need_at_least(std::int64_t least, const char* name, std::int64_t value) {
  if (value >= least) return;
  throw Error(ExitCode::kUsage, std::string("synthetic data: the ") + name + " is " +
                                    std::to_string(value) + ", it must be " +
                                    std::to_string(least) + " or more");
}

}  // namespace falcon::data
