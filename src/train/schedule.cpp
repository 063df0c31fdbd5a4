#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "train/catalog.h"

namespace falcon::train {
namespace {

ops::RateRow row_at(double lr, const ScheduleContext& context) {
  return {lr, lr, context.momentum};
}

/// Epochs that the run has a part of.
std::int64_t epochs_of(const ScheduleContext& context) {
  return std::max<std::int64_t>(0, context.max_updates - 1) / context.updates_per_epoch + 1;
}

/// The last row holds for ever, so a tail of equal ones says nothing.
void drop_equal_tail(std::vector<ops::RateRow>& rows) {
  while (rows.size() > 1 && *(rows.end() - 2) == rows.back()) {
    rows.pop_back();
  }
}

/// after_warmup: the rate a number of epochs after the end of the warm-up.
RateRows rows_by_epoch(const ScheduleSpec& schedule, const ScheduleContext& context,
                       const std::function<double(double)>& after_warmup) {
  const double warmup = schedule.warmup_epochs.value_or(0);
  const double start = schedule.warmup_start.value_or(1);
  RateRows rows;
  for (std::int64_t epoch = 0; epoch < epochs_of(context); ++epoch) {
    const auto e = static_cast<double>(epoch);
    rows.by_epoch.push_back(row_at(
        e < warmup ? context.lr * (start + (1 - start) * e / warmup) : after_warmup(e - warmup),
        context));
  }
  drop_equal_tail(rows.by_epoch);
  return rows;
}

/// after_warmup: the factor of lr where this share of what follows the warm-up is over.
RateRows rows_by_update(const ScheduleSpec& schedule, const ScheduleContext& context,
                        double (*after_warmup)(double)) {
  const std::int64_t all =
      schedule.steps.value_or(schedule.epochs.value_or(1) * context.updates_per_epoch);
  const auto share = static_cast<std::int64_t>(
      std::ceil(schedule.warmup_ratio.value_or(0) * static_cast<double>(all)));
  const std::int64_t warmup = schedule.warmup_steps.value_or(share);
  const auto rest = static_cast<double>(std::max<std::int64_t>(1, all - warmup));
  const auto factor = [&](std::int64_t update) {
    if (update < warmup) return static_cast<double>(update) / static_cast<double>(warmup);
    return after_warmup(static_cast<double>(update - warmup) / rest);
  };
  RateRows rows;
  for (std::int64_t update = 0; update < context.max_updates; ++update) {
    rows.by_update.push_back(row_at(context.lr * factor(update), context));
  }
  rows.by_epoch.push_back(row_at(context.lr * factor(context.max_updates), context));
  while (!rows.by_update.empty() && rows.by_update.back() == rows.by_epoch.back()) {
    rows.by_update.pop_back();
  }
  return rows;
}

/// way(share): how much of the way from lr to end_lr is gone when this share of the epochs is over.
RateRows lagging_rows(const ScheduleSpec& schedule, const ScheduleContext& context,
                      double (*way)(double)) {
  constexpr double kLeastWarmup = 100;
  const std::int64_t per_epoch = context.updates_per_epoch;
  const auto epochs = static_cast<double>(schedule.epochs.value_or(1));
  const auto rate = [&](std::int64_t epoch) {
    const double share = std::clamp(static_cast<double>(epoch) / epochs, 0.0, 1.0);
    return context.lr + (schedule.end_lr.value_or(0) - context.lr) * way(share);
  };
  const double warmup_epochs = schedule.warmup_epochs.value_or(0);
  const double warmup =
      warmup_epochs > 0
          ? std::max(std::nearbyint(warmup_epochs * static_cast<double>(per_epoch)), kLeastWarmup)
          : 0;
  const std::int64_t last_epoch = static_cast<std::int64_t>(warmup) / per_epoch;  // of the warm-up
  const std::int64_t rows_wanted = warmup > 0 ? (last_epoch + 1) * per_epoch : 0;
  RateRows rows;
  for (std::int64_t u = 0; u < std::min(rows_wanted, context.max_updates); ++u) {
    const double target = rate(u / per_epoch);
    const double done = std::min(static_cast<double>(u) / warmup, 1.0);
    const auto between = [done](double from, double to) { return from + (to - from) * done; };
    rows.by_update.push_back(
        {between(0, target), between(schedule.warmup_bias_lr.value_or(0), target),
         between(schedule.warmup_momentum.value_or(context.momentum), context.momentum)});
  }
  for (std::int64_t epoch = 0; epoch < epochs_of(context); ++epoch) {
    rows.by_epoch.push_back(row_at(rate(epoch - 1), context));
  }
  drop_equal_tail(rows.by_epoch);
  return rows;
}

}  // namespace

bool RateRows::biases_differ() const {
  const auto differs = [](const ops::RateRow& row) { return row.bias_lr != row.lr; };
  return std::any_of(by_update.begin(), by_update.end(), differs) ||
         std::any_of(by_epoch.begin(), by_epoch.end(), differs);
}

bool RateRows::momentum_varies() const {
  const auto differs = [&](const ops::RateRow& row) {
    return row.momentum != by_epoch.front().momentum;
  };
  return std::any_of(by_update.begin(), by_update.end(), differs) ||
         std::any_of(by_epoch.begin(), by_epoch.end(), differs);
}

ops::RateRow RateRows::at(std::int64_t update, std::int64_t updates_per_epoch) const {
  if (update < static_cast<std::int64_t>(by_update.size())) {
    return by_update[static_cast<std::size_t>(update)];
  }
  const auto epoch = static_cast<std::size_t>(update / updates_per_epoch);
  return by_epoch[std::min(epoch, by_epoch.size() - 1)];
}

RateRows constant_rows(const ScheduleSpec& schedule, const ScheduleContext& context) {
  return rows_by_epoch(schedule, context, [&](double) { return context.lr; });
}

RateRows step_rows(const ScheduleSpec& schedule, const ScheduleContext& context) {
  const auto step_epochs = static_cast<double>(schedule.step_epochs.value_or(1));
  return rows_by_epoch(schedule, context, [&](double e) {
    return context.lr * std::pow(schedule.gamma.value_or(1), std::floor(e / step_epochs));
  });
}

RateRows cosine_rows(const ScheduleSpec& schedule, const ScheduleContext& context) {
  const double length =
      static_cast<double>(schedule.epochs.value_or(1)) - schedule.warmup_epochs.value_or(0);
  const double end = schedule.end_lr.value_or(0);
  return rows_by_epoch(schedule, context, [&](double e) {
    if (e >= length) return end;
    return end + (context.lr - end) * (1 + std::cos(std::numbers::pi * e / length)) / 2;
  });
}

RateRows linear_rows(const ScheduleSpec& schedule, const ScheduleContext& context) {
  return rows_by_update(schedule, context, [](double share) { return std::max(0.0, 1 - share); });
}

RateRows cosine_by_step_rows(const ScheduleSpec& schedule, const ScheduleContext& context) {
  return rows_by_update(schedule, context,
                        [](double share) { return (1 + std::cos(std::numbers::pi * share)) / 2; });
}

RateRows yolov5_rows(const ScheduleSpec& schedule, const ScheduleContext& context) {
  return lagging_rows(schedule, context, [](double share) { return share; });
}

RateRows yolov5_cosine_rows(const ScheduleSpec& schedule, const ScheduleContext& context) {
  return lagging_rows(schedule, context,
                      [](double share) { return (1 - std::cos(std::numbers::pi * share)) / 2; });
}

RateRows rate_rows(const ScheduleSpec& schedule, const ScheduleContext& context) {
  return schedule_of(schedule.kind.value_or(""))(schedule, context);
}

}  // namespace falcon::train
