// The arithmetic of counting a training step, the same on the host and inside a kernel: steps done,
// optimizer updates made (loss scaling skips some), and the learning rates that follow the updates.
#pragma once
#include <cstdint>

namespace falcon::ops {

struct StepCounters {
  std::int64_t steps = 0;
  std::int64_t updates = 0;  // what the schedule follows
  std::int64_t skipped = 0;
};

/// What one step says to the host.
struct StepReport {
  std::int64_t step = 0;  // counted from 1
  double loss = 0;
  double lr = 0;
  double loss_scale = 0;     // after the step; 0 without loss scaling
  std::int64_t skipped = 0;  // in all steps so far
};

/// What an update takes from the schedule. bias_lr: of the parameters whose name ends in "bias".
struct RateRow {
  double lr = 0;
  double bias_lr = 0;
  double momentum = 0;
  friend constexpr bool operator==(const RateRow&, const RateRow&) = default;
};

/// The rows of the first num_by_update updates, one each; then those of the epochs, counted from
/// the first update on. The last one holds for ever. REQUIRES: a row of an epoch.
struct RateTable {
  const RateRow* rows = nullptr;
  std::int64_t count = 0;
  std::int64_t num_by_update = 0;
  std::int64_t updates_per_epoch = 1;
};

constexpr RateRow row_of(const RateTable& table, std::int64_t updates) {
  if (updates < table.num_by_update) return table.rows[updates];
  const std::int64_t index = table.num_by_update + updates / table.updates_per_epoch;
  return table.rows[index < table.count ? index : table.count - 1];
}

constexpr void count_step(StepCounters& counters, bool was_skipped) {
  counters.steps += 1;
  counters.updates += was_skipped ? 0 : 1;
  counters.skipped += was_skipped ? 1 : 0;
}

}  // namespace falcon::ops
