// Learning rates by epoch, as torchvision's reference scripts set them: a linear warm-up
// (torch.optim.lr_scheduler.LinearLR), then a schedule that starts to count where the warm-up ends
// (SequentialLR). Free of Torch.
#pragma once
#include <cstdint>
#include <vector>

#include <falconbench/run_spec.h>

namespace falcon::train {

/// The learning rate `epoch` epochs after the warm-up; base is the one at the start.
using RateFunction = double (*)(const ScheduleSpec& schedule, double base, double epoch);

double constant_rate(const ScheduleSpec& schedule, double base, double epoch);
/// base * gamma ^ floor(epoch / step_epochs)   (StepLR)
double step_rate(const ScheduleSpec& schedule, double base, double epoch);
/// end_lr + (base - end_lr) * (1 + cos(pi * epoch / length)) / 2, length = epochs - warmup_epochs
/// (CosineAnnealingLR); end_lr after that.
double cosine_rate(const ScheduleSpec& schedule, double base, double epoch);

/// Rates of epochs 0 .. n - 1, n <= max_epochs: the last one holds for all later epochs too (of a
/// run of max_epochs). REQUIRES: a resolved schedule (every field set that its kind uses).
std::vector<double> rates_by_epoch(const ScheduleSpec& schedule, double base,
                                   std::int64_t max_epochs);

}  // namespace falcon::train
