// Learning rates by epoch against schedules.json, made by torchvision's reference schedules.
#include "train/schedule.h"

#include <gtest/gtest.h>

#include <falconbench/errors.h>

#include "support/reference_set.h"

namespace falcon::train {
namespace {

void expect_rates(const test::Json& json, const ScheduleSpec& schedule) {
  const std::int64_t epochs = json.at("epochs");
  const std::vector<double> rates = rates_by_epoch(schedule, json.at("lr"), epochs);
  ASSERT_FALSE(json.at("per_epoch").empty());
  for (const test::Json& row : json.at("per_epoch")) {
    const auto epoch = std::min(row[0].get<std::size_t>(), rates.size() - 1);
    const double expected = row[1];
    EXPECT_NEAR(rates[epoch], expected, 1e-12 * std::max(1.0, expected)) << "epoch " << row[0];
  }
}

ScheduleSpec step_of(const test::Json& json) {
  ScheduleSpec schedule;
  schedule.kind = "step";
  schedule.step_epochs = json.at("step_size").get<std::int64_t>();
  schedule.gamma = json.at("gamma").get<double>();
  return schedule;
}

TEST(Schedule, StepFollowsTheReference) {
  const auto file = test::read_reference("schedules.json");
  if (!file) GTEST_SKIP() << "schedules.json is not there";
  expect_rates(file->json.at("step"), step_of(file->json.at("step")));
  expect_rates(file->json.at("mobilenet_step"), step_of(file->json.at("mobilenet_step")));
}

TEST(Schedule, CosineWithWarmUpFollowsTheReference) {
  const auto file = test::read_reference("schedules.json");
  if (!file) GTEST_SKIP() << "schedules.json is not there";
  const test::Json& json = file->json.at("cosine_warmup");
  ScheduleSpec schedule;
  schedule.kind = "cosine";
  schedule.epochs = json.at("epochs").get<std::int64_t>();
  schedule.warmup_epochs = json.at("warmup_epochs").get<double>();
  schedule.warmup_start = json.at("warmup_start_factor").get<double>();
  schedule.end_lr = json.at("eta_min").get<double>();
  expect_rates(json, schedule);
}

TEST(Schedule, ConstantIsOneRateAndCosineEndsAtItsEnd) {
  ScheduleSpec schedule;
  schedule.kind = "constant";
  EXPECT_EQ(rates_by_epoch(schedule, 0.25, 1000), std::vector<double>{0.25});
  schedule.kind = "cosine";
  schedule.epochs = 4;
  schedule.end_lr = 0.1;
  const std::vector<double> rates = rates_by_epoch(schedule, 0.5, 100);
  ASSERT_EQ(rates.size(), 5U);
  EXPECT_NEAR(rates[2], 0.3, 1e-15);
  EXPECT_EQ(rates[4], 0.1);
}

TEST(Schedule, AnUnknownKindIsRefused) {
  ScheduleSpec schedule;
  schedule.kind = "zigzag";
  EXPECT_THROW(rates_by_epoch(schedule, 1, 1), Error);
}

}  // namespace
}  // namespace falcon::train
