// Rates against schedules.json, made by the reference schedules.
#include "train/schedule.h"

#include <gtest/gtest.h>

#include <falconbench/errors.h>

#include "support/reference_set.h"

namespace falcon::train {
namespace {

/// One update an epoch, so that an epoch is an update.
void expect_rates(const test::Json& json, const ScheduleSpec& schedule) {
  ScheduleContext context;
  context.lr = json.at("lr");
  context.momentum = 0.75;
  context.max_updates = json.at("epochs");
  const RateRows rows = rate_rows(schedule, context);
  ASSERT_FALSE(json.at("per_epoch").empty());
  for (const test::Json& row : json.at("per_epoch")) {
    const double expected = row[1];
    const ops::RateRow got = rows.at(row[0], 1);
    EXPECT_NEAR(got.lr, expected, 1e-12 * std::max(1.0, expected)) << "epoch " << row[0];
    EXPECT_EQ(got.bias_lr, got.lr);
    EXPECT_EQ(got.momentum, 0.75);
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

void expect_yolov5_rates(const test::Json& json) {
  ScheduleSpec schedule;
  schedule.kind = json.at("cos").get<bool>() ? "yolov5_cosine" : "yolov5";
  schedule.epochs = json.at("epochs").get<std::int64_t>();
  schedule.warmup_epochs = json.at("warmup_epochs").get<double>();
  schedule.warmup_bias_lr = json.at("warmup_bias_lr").get<double>();
  schedule.warmup_momentum = json.at("warmup_momentum").get<double>();
  schedule.end_lr = json.at("lr0").get<double>() * json.at("lrf").get<double>();
  const std::int64_t per_epoch = json.at("batches_per_epoch");
  const RateRows rows = rate_rows(schedule, {.lr = json.at("lr0"),
                                             .momentum = json.at("momentum"),
                                             .updates_per_epoch = per_epoch,
                                             .max_updates = *schedule.epochs * per_epoch});
  EXPECT_TRUE(rows.biases_differ());
  EXPECT_TRUE(rows.momentum_varies());
  EXPECT_LT(std::ssize(rows.by_update), *schedule.epochs * per_epoch);
  ASSERT_FALSE(json.at("rows").empty());
  for (const test::Json& row : json.at("rows")) {
    const std::int64_t update = row[0];
    const ops::RateRow got = rows.at(update, per_epoch);
    EXPECT_NEAR(got.bias_lr, row[2], 1e-12) << "update " << update;
    EXPECT_NEAR(got.lr, row[3], 1e-12) << "update " << update;
    EXPECT_NEAR(got.lr, row[4], 1e-12) << "update " << update;
    EXPECT_NEAR(got.momentum, row[5], 1e-12) << "update " << update;
  }
}

TEST(Schedule, Yolov5LagsAsTheReference) {
  const auto file = test::read_reference("schedules.json");
  if (!file) GTEST_SKIP() << "schedules.json is not there";
  ASSERT_FALSE(file->json.at("yolov5").empty());
  for (const test::Json& json : file->json.at("yolov5")) expect_yolov5_rates(json);
}

TEST(Schedule, Yolov5WithoutWarmUpBeginsAtItsRate) {
  ScheduleSpec schedule;
  schedule.kind = "yolov5";
  schedule.epochs = 4;
  schedule.warmup_epochs = 0;
  schedule.end_lr = 0;
  const RateRows rows = rate_rows(
      schedule, {.lr = 0.5, .momentum = 0.9, .updates_per_epoch = 10, .max_updates = 100});
  EXPECT_TRUE(rows.by_update.empty());
  EXPECT_EQ(rows.at(0, 10).lr, 0.5);
  EXPECT_EQ(rows.at(19, 10).lr, 0.5);
  EXPECT_EQ(rows.at(20, 10).lr, 0.375);
  EXPECT_EQ(rows.at(99, 10).lr, 0) << "behind the end of the schedule";
}

TEST(Schedule, ByStepFollowsTheReference) {
  const auto file = test::read_reference("schedules.json");
  if (!file) GTEST_SKIP() << "schedules.json is not there";
  const test::Json& bert = file->json.at("bert");
  ASSERT_FALSE(bert.empty());
  for (const test::Json& json : bert) {
    ScheduleSpec schedule;
    schedule.kind = json.at("kind") == "cosine" ? "cosine_by_step" : "linear";
    schedule.steps = json.at("total").get<std::int64_t>();
    schedule.warmup_steps = json.at("warmup").get<std::int64_t>();
    ScheduleContext context;
    context.lr = json.at("lr");
    context.updates_per_epoch = 7;
    context.max_updates = *schedule.steps + 2;
    const RateRows rows = rate_rows(schedule, context);
    for (const test::Json& row : json.at("per_step")) {
      const double expected = row[1];
      EXPECT_NEAR(rows.at(row[0], 7).lr, expected, 1e-12 * std::max(1e-3, expected))
          << json.at("kind") << " step " << row[0];
    }
  }
}

TEST(Schedule, ByStepTakesEpochsAndAShareForTheWarmUp) {
  ScheduleSpec schedule;
  schedule.kind = "linear";
  schedule.epochs = 2;
  schedule.warmup_ratio = 0.25;
  ScheduleContext context{.lr = 8, .momentum = 0, .updates_per_epoch = 5, .max_updates = 10};
  const RateRows rows = rate_rows(schedule, context);  // 10 updates, warm-up 2.5: 3
  EXPECT_EQ(rows.at(0, 5).lr, 0);
  EXPECT_NEAR(rows.at(1, 5).lr, 8.0 / 3, 1e-15);
  EXPECT_EQ(rows.at(3, 5).lr, 8);
  EXPECT_NEAR(rows.at(9, 5).lr, 8.0 / 7, 1e-15);
  EXPECT_EQ(rows.at(10, 5).lr, 0);
  EXPECT_EQ(rows.at(1000, 5).lr, 0);
  context.max_updates = 4;  // a shorter run has fewer rows, and the same ones
  const RateRows head = rate_rows(schedule, context);
  EXPECT_EQ(head.by_update.size(), 4U);
  for (std::int64_t update = 0; update <= 4; ++update) {
    EXPECT_EQ(head.at(update, 5), rows.at(update, 5)) << update;
  }
}

TEST(Schedule, ConstantIsOneRowAndCosineEndsAtItsEnd) {
  ScheduleSpec schedule;
  schedule.kind = "constant";
  const RateRows constant = rate_rows(schedule, {.lr = 0.25, .momentum = 0.5, .max_updates = 1000});
  EXPECT_TRUE(constant.by_update.empty());
  EXPECT_EQ(constant.by_epoch, (std::vector<ops::RateRow>{{0.25, 0.25, 0.5}}));
  EXPECT_FALSE(constant.biases_differ());
  EXPECT_FALSE(constant.momentum_varies());
  schedule.kind = "cosine";
  schedule.epochs = 4;
  schedule.end_lr = 0.1;
  const RateRows rows =
      rate_rows(schedule, {.lr = 0.5, .momentum = 0, .updates_per_epoch = 3, .max_updates = 300});
  ASSERT_EQ(rows.by_epoch.size(), 5U);
  EXPECT_NEAR(rows.at(8, 3).lr, 0.3, 1e-15);
  EXPECT_EQ(rows.at(12, 3).lr, 0.1);
}

TEST(Schedule, RowsOfUpdatesComeBeforeThoseOfEpochs) {
  RateRows rows;
  rows.by_update = {{1, 10, 0.5}, {2, 9, 0.6}};
  rows.by_epoch = {{5, 5, 0.9}, {4, 4, 0.9}, {3, 3, 0.9}};
  EXPECT_TRUE(rows.biases_differ());
  EXPECT_TRUE(rows.momentum_varies());
  std::vector<ops::RateRow> flat = rows.by_update;
  flat.insert(flat.end(), rows.by_epoch.begin(), rows.by_epoch.end());
  const ops::RateTable table{flat.data(), 5, 2, 3};
  const std::vector<double> expected{1, 2, 5, 4, 4, 4, 3, 3, 3, 3};
  for (std::int64_t update = 0; update < 10; ++update) {
    EXPECT_EQ(rows.at(update, 3).lr, expected[static_cast<std::size_t>(update)]) << update;
    EXPECT_EQ(ops::row_of(table, update), rows.at(update, 3)) << update;
  }
}

TEST(Schedule, AnUnknownKindIsRefused) {
  ScheduleSpec schedule;
  schedule.kind = "zigzag";
  EXPECT_THROW(rate_rows(schedule, {}), Error);
}

}  // namespace
}  // namespace falcon::train
