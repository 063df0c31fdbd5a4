// The arithmetic of counting a training step, the same on the host and inside a kernel: steps done,
// optimizer updates made (loss scaling skips some), and the learning rate that follows the updates.
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

/// The learning rate of update u is rates[min(u / updates_per_rate, count - 1)].
struct RateTable {
  const double* rates = nullptr;
  std::int64_t count = 0;
  std::int64_t updates_per_rate = 1;  // steps of an epoch
};

constexpr double rate_of(const RateTable& table, std::int64_t updates) {
  const std::int64_t index = updates / table.updates_per_rate;
  return table.rates[index < table.count ? index : table.count - 1];
}

constexpr void count_step(StepCounters& counters, bool was_skipped) {
  counters.steps += 1;
  counters.updates += was_skipped ? 0 : 1;
  counters.skipped += was_skipped ? 1 : 0;
}

}  // namespace falcon::ops
