// Which samples make the batch of step k on rank r. A pure function: the global batch of a step
// holds the same samples in the same order for every number of ranks; rank r takes the r-th slice
// of it.
#pragma once
#include <cstdint>

#include "falconbench/dataset.h"

namespace falcon::data {

struct BatchScheduleOptions {
  std::int64_t samples = 0;       // of the data set
  std::int64_t global_batch = 0;  // of all ranks, with accumulation
  int ranks = 1;
  int rank = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;  // false: in the data set's order
  // The last batch of a pass is not dropped but filled up with samples of its start: sample() then
  // gives some twice, is_repeated() says which. Without shuffle only.
  bool whole = false;
};

class BatchSchedule {
 public:
  /// Throws falcon::Error (kUsage): a batch larger than the data set, or one that the ranks do not
  /// divide.
  explicit BatchSchedule(const BatchScheduleOptions& options);

  std::int64_t rank_batch() const { return rank_batch_; }
  std::int64_t samples() const { return options_.samples; }
  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// Samples of the last partial batch, left out in every epoch (others each time).
  std::int64_t dropped_per_epoch() const {
    return options_.whole ? 0 : options_.samples - steps_per_epoch_ * options_.global_batch;
  }
  std::int64_t epoch(std::int64_t step) const { return step / steps_per_epoch_; }
  /// Sample i (0 .. rank_batch() - 1) of this rank's slice of step `step` (counted from 0 over all
  /// epochs).
  SampleKey sample(std::int64_t step, std::int64_t i) const;
  /// Whether that sample only fills up the last batch of the pass.
  bool is_repeated(std::int64_t step, std::int64_t i) const {
    return position(step, i) >= options_.samples;
  }

 private:
  std::int64_t position(std::int64_t step, std::int64_t i) const {
    return step % steps_per_epoch_ * options_.global_batch + options_.rank * rank_batch_ + i;
  }

  BatchScheduleOptions options_;
  std::int64_t rank_batch_;
  std::int64_t steps_per_epoch_;
};

/// Place `position` of the order that (seed, epoch) shuffle 0 .. size - 1 into. A Feistel network
/// over the next power of four, walked until it lands inside: needs no table, so an epoch starts
/// without a pause and without memory.
std::int64_t shuffled(std::int64_t position, std::int64_t size, std::uint64_t seed,
                      std::int64_t epoch);

}  // namespace falcon::data
