#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "train/catalog.h"

namespace falcon::train {

double constant_rate(const ScheduleSpec&, double base, double) {
  return base;
}

double step_rate(const ScheduleSpec& schedule, double base, double epoch) {
  const auto step_epochs = static_cast<double>(schedule.step_epochs.value_or(1));
  return base * std::pow(schedule.gamma.value_or(1), std::floor(epoch / step_epochs));
}

double cosine_rate(const ScheduleSpec& schedule, double base, double epoch) {
  const double length =
      static_cast<double>(schedule.epochs.value_or(1)) - schedule.warmup_epochs.value_or(0);
  const double end = schedule.end_lr.value_or(0);
  if (epoch >= length) return end;
  return end + (base - end) * (1 + std::cos(std::numbers::pi * epoch / length)) / 2;
}

std::vector<double> rates_by_epoch(const ScheduleSpec& schedule, double base,
                                   std::int64_t max_epochs) {
  const RateFunction rate = schedule_of(schedule.kind.value_or(""));
  const double warmup = schedule.warmup_epochs.value_or(0);
  const double start = schedule.warmup_start.value_or(1);
  std::vector<double> rates;
  for (std::int64_t epoch = 0; epoch < std::max<std::int64_t>(1, max_epochs); ++epoch) {
    const auto e = static_cast<double>(epoch);
    rates.push_back(e < warmup ? base * (start + (1 - start) * e / warmup)
                               : rate(schedule, base, e - warmup));
  }
  // the last value holds for ever, so a tail of equal ones says nothing
  while (rates.size() > 1 && rates[rates.size() - 2] == rates.back()) rates.pop_back();
  return rates;
}

}  // namespace falcon::train
