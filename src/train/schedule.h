// The rates of every update of a run, as the reference scripts set them: by epoch, or by update.
// Free of Torch.
#pragma once
#include <cstdint>
#include <vector>

#include <falconbench/run_spec.h>

#include "ops/step_counters.h"

namespace falcon::train {

/// What a schedule is reckoned from.
struct ScheduleContext {
  double lr = 0;
  double momentum = 0;
  std::int64_t updates_per_epoch = 1;
  std::int64_t max_updates = 1;  // of the run: rows after that are not needed
};

/// Rows of the first updates, then of epochs 0, 1, ... (ops::RateTable). by_epoch is never empty,
/// and its last row holds for all later epochs of the run.
struct RateRows {
  std::vector<ops::RateRow> by_update;
  std::vector<ops::RateRow> by_epoch;

  bool biases_differ() const;  // in any row from the other parameters
  bool momentum_varies() const;
  ops::RateRow at(std::int64_t update, std::int64_t updates_per_epoch) const;
};

using ScheduleFunction = RateRows (*)(const ScheduleSpec& schedule, const ScheduleContext& context);

// By epoch e: a linear warm-up lr * (warmup_start + (1 - warmup_start) * e / warmup_epochs)
// (torch.optim.lr_scheduler.LinearLR), then a rate that starts to count where the warm-up ends
// (SequentialLR); e below is counted from there.
/// lr
RateRows constant_rows(const ScheduleSpec& schedule, const ScheduleContext& context);
/// lr * gamma ^ floor(e / step_epochs)   (StepLR)
RateRows step_rows(const ScheduleSpec& schedule, const ScheduleContext& context);
/// end_lr + (lr - end_lr) * (1 + cos(pi * e / length)) / 2, length = epochs - warmup_epochs
/// (CosineAnnealingLR); end_lr after that.
RateRows cosine_rows(const ScheduleSpec& schedule, const ScheduleContext& context);

// By update u of n in all (steps, or epochs times the updates of an epoch): a linear warm-up lr * u
// / w, w = warmup_steps, or the share warmup_ratio of n, rounded up; then, as transformers'
// get_linear_schedule_with_warmup and get_cosine_schedule_with_warmup:
/// lr * (n - u) / (n - w), then 0
RateRows linear_rows(const ScheduleSpec& schedule, const ScheduleContext& context);
/// lr * (1 + cos(pi * (u - w) / (n - w))) / 2, also beyond n, where it rises again
RateRows cosine_by_step_rows(const ScheduleSpec& schedule, const ScheduleContext& context);

// YOLOv5's (train.py of v7.0), both by update and by epoch e of E = epochs, f(e) the rate between
// lr and end_lr. The warm-up lasts until update w = warmup_epochs in updates, at least 100: the
// rate goes there in a line from 0, that of the biases from warmup_bias_lr, to f(e) of the update's
// own epoch, and momentum from warmup_momentum. The rest of that epoch stays at f(e); later ones
// take f(e - 1).
/// f(e) = lr + (end_lr - lr) * e / E
RateRows yolov5_rows(const ScheduleSpec& schedule, const ScheduleContext& context);
/// f(e) = lr + (end_lr - lr) * (1 - cos(pi * e / E)) / 2
RateRows yolov5_cosine_rows(const ScheduleSpec& schedule, const ScheduleContext& context);

/// By the schedule's kind; throws Error(kUsage) for an unknown one. REQUIRES: a resolved schedule
/// (every field set that its kind uses).
RateRows rate_rows(const ScheduleSpec& schedule, const ScheduleContext& context);

}  // namespace falcon::train
