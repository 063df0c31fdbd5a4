#include "analysis/predict/predict.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "made_run.h"

namespace falcon::analysis {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

Fabric fabric(const std::string& name, double bus_bytes_per_s, double latency_s) {
  return ring_fabric(name, bus_bytes_per_s, latency_s, "made");
}

TEST(AllReduce, MeasuredPointsComeBackAndBetweenThemTimeIsLinear) {
  const Fabric measured{
      "m", 2, {{1e3, 1e-5, 9e-6, 2e-5}, {1e6, 2e-5, 2e-5, 3e-5}, {1e8, 1e-3, 1e-3, 1e-3}}, ""};
  EXPECT_DOUBLE_EQ(all_reduce_s(measured, 1e6, 2), 2e-5);
  EXPECT_DOUBLE_EQ(all_reduce_s(measured, 10, 2), 1e-5) << "below the smallest";
  EXPECT_NEAR(all_reduce_s(measured, (1e6 + 1e8) / 2, 2), (2e-5 + 1e-3) / 2, 1e-12);
  EXPECT_NEAR(all_reduce_s(measured, 2e8, 2), 1e-3 + 1e8 * (1e-3 - 2e-5) / (1e8 - 1e6), 1e-9);
  EXPECT_DOUBLE_EQ(all_reduce_s(measured, 1e3, 2, Pace::kSlow), 2e-5);
  EXPECT_DOUBLE_EQ(all_reduce_s(measured, 1e3, 2, Pace::kFast), 9e-6);
  EXPECT_EQ(all_reduce_s(measured, 1e6, 1), 0);
}

TEST(AllReduce, OtherNumbersOfRanksFollowTheRing) {
  const Fabric ring = fabric("r", 10e9, 5e-6);
  for (const int ranks : {2, 3, 8, 16}) {
    // 2 (n - 1) hops of latency, 2 (n - 1) / n times the bytes over each link
    const double expected = 2 * (ranks - 1) * 5e-6 + 2.0 * (ranks - 1) / ranks * 1e8 / 10e9;
    EXPECT_NEAR(all_reduce_s(ring, 1e8, ranks), expected, 1e-12) << ranks;
  }
}

TEST(AllReduce, HostsAreJoinedByTheirNetwork) {
  const Fabric ring = fabric("r", 100e9, 0);
  const Level network{8, 25e9, 1e-5};
  EXPECT_THAT(all_reduce_parts_s(ring, {network}, 1e8, 8),
              ElementsAre(all_reduce_s(ring, 1e8, 8), 0));
  const double inside = 2 * 7.0 / 8 * 1e8 / 100e9;
  const double between = 2 * 3 * 1e-5 + 2 * 3.0 / 4 * 1e8 / 25e9;
  EXPECT_THAT(all_reduce_parts_s(ring, {network}, 1e8, 32),
              ElementsAre(DoubleNear(inside, 1e-12), DoubleNear(between, 1e-12)));
}

TEST(AllReduce, GroupsOfHostsAreJoinedByTheNextLevel) {
  const Fabric ring = fabric("r", 100e9, 0);
  const std::vector<Level> levels = {{8, 25e9, 1e-5}, {64, 200e9, 2e-5}};
  // 8 hosts a group, 3 groups of which the last is half full
  const std::vector<double> parts = all_reduce_parts_s(ring, levels, 1e8, 160);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_NEAR(parts[1], 2 * 7 * 1e-5 + 2 * 7.0 / 8 * 1e8 / 25e9, 1e-12);
  EXPECT_NEAR(parts[2], 2 * 2 * 2e-5 + 2 * 2.0 / 3 * 1e8 / 200e9, 1e-12);
  EXPECT_EQ(all_reduce_parts_s(ring, levels, 1e8, 64)[2], 0) << "one group alone";
}

TEST(Overlap, BucketsWaitForTheirGradientsAndForEachOther) {
  // Two equal buckets, backward pass of 10 ms, even readiness: ready at 5 and 10 ms.
  EXPECT_DOUBLE_EQ(exposed_after_backward_ms({1, 1}, {4, 4}, 10, 1), 4)
      << "the last is never hidden";
  EXPECT_DOUBLE_EQ(exposed_after_backward_ms({1, 1}, {8, 4}, 10, 1), 7) << "5 + 8 + 4 - 10";
  EXPECT_DOUBLE_EQ(exposed_after_backward_ms({1, 1}, {8, 4}, 10, 2), 4.5) << "ready at 2.5";
  EXPECT_DOUBLE_EQ(exposed_after_backward_ms({1}, {0}, 10, 1), 0);
}

/// A run as the model's own world makes it, with figures that predict() is not told.
StepModel made_run(const Fabric& on, double shape, double slowdown) {
  StepModel run;
  run.model = "made";
  run.ranks = 2;
  run.samples_per_rank = 16;
  run.backward_ms = 60;
  run.bucket_bytes = {1e6};
  for (int i = 0; i < 20; ++i) run.bucket_bytes.push_back(25e6);
  std::vector<double> times;
  for (const double bytes : run.bucket_bytes) {
    times.push_back(1000 * slowdown * all_reduce_s(on, bytes, 2));
  }
  run.busy_ms = std::accumulate(times.begin(), times.end(), 0.0);
  run.exposed_ms = exposed_after_backward_ms(run.bucket_bytes, times, run.backward_ms, shape);
  run.step_ms = 100 + run.exposed_ms;
  run.relative_ci95 = 0.002;
  run.input_samples_per_s = 1e6;
  return run;
}

const Fabric kFast = fabric("nvlink", 200e9, 4e-6);
const Fabric kSlow = fabric("host staged", 9e9, 2e-5);

TEST(Predict, TheMeasuredLinksGiveTheMeasuredStep) {
  for (const Fabric& on : {kFast, kSlow}) {
    const StepModel run = made_run(on, 1.3, 1.15);
    const Prediction same = predict(run, on, {on, {}, 2});
    EXPECT_NEAR(same.step_ms, run.step_ms, 0.01 * run.step_ms) << on.name;
    EXPECT_NEAR(same.exposed_ms, run.exposed_ms, 0.01 * run.step_ms);
    EXPECT_NEAR(same.time_ratio, 1, 0.01);
  }
}

TEST(Predict, FromFastToSlowLinksAndBackWithinTenPercent) {
  for (const double shape : {0.8, 1.0, 1.3}) {
    for (const double slowdown : {1.0, 1.2}) {
      const StepModel fast = made_run(kFast, shape, slowdown);
      const StepModel slow = made_run(kSlow, shape, slowdown);
      const Prediction down = predict(fast, kFast, {kSlow, {}, 2});
      EXPECT_NEAR(down.step_ms, slow.step_ms, 0.1 * slow.step_ms) << shape << ' ' << slowdown;
      EXPECT_LE(down.step_low_ms, slow.step_ms);
      EXPECT_GE(down.step_high_ms, slow.step_ms);
      const Prediction up = predict(slow, kSlow, {kFast, {}, 2});
      EXPECT_NEAR(up.step_ms, fast.step_ms, 0.1 * fast.step_ms) << shape << ' ' << slowdown;
    }
  }
}

TEST(Predict, WhatCallsWaitForOnFastLinksDoesNotGrowWithSlowOnes) {
  StepModel fast = made_run(kFast, 1, 1);
  const double alone_ms = *fast.busy_ms;
  fast.busy_ms = alone_ms + 0.5 * static_cast<double>(fast.bucket_bytes.size());  // all hidden
  const StepModel slow = made_run(kSlow, 1, 1);
  const Prediction down = predict(fast, kFast, {kSlow, {}, 2});
  EXPECT_NEAR(down.communication_ms, *slow.busy_ms, 0.2 * *slow.busy_ms);
  EXPECT_NEAR(down.step_ms, slow.step_ms, 0.1 * slow.step_ms);
  EXPECT_GE(down.step_high_ms, slow.step_ms);
}

TEST(Predict, TheBottleneckIsNamed) {
  StepModel run = made_run(kFast, 1, 1);
  EXPECT_THAT(predict(run, kFast, {kFast, {}, 2}).bottleneck, HasSubstr("computation"));
  EXPECT_THAT(predict(run, kFast, {kSlow, {}, 2}).bottleneck, HasSubstr("communication"));
  run.input_samples_per_s = 50.0;
  const Prediction input = predict(run, kFast, {kFast, {}, 8});
  EXPECT_THAT(input.bottleneck, HasSubstr("input"));
  EXPECT_NEAR(input.samples_per_s, 50, 1e-9);
}

TEST(Predict, ThousandsOfGpusTakeNoTimeAndScaleDown) {
  const StepModel run = made_run(kFast, 1, 1);
  const auto begin = std::chrono::steady_clock::now();
  double efficiency = 2;
  for (const int devices : {8, 64, 512, 4096}) {
    const Prediction p = predict(run, kFast, {kFast, {{8, 50e9, 1e-5}}, devices});
    EXPECT_LT(p.samples_per_s / devices, efficiency * 1000);
    efficiency = p.samples_per_s / devices / 1000;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 5);
}

TEST(Predict, TheSlowestLevelIsNamed) {
  const StepModel run = made_run(kFast, 1, 1);
  const auto bottleneck = [&run](double between_hosts, double between_racks) {
    const std::vector<Level> levels = {{8, between_hosts, 1e-5}, {64, between_racks, 1e-5}};
    return predict(run, kFast, {kFast, levels, 1024}).bottleneck;
  };
  EXPECT_THAT(bottleneck(5e9, 400e9), HasSubstr("between groups of 8, at 5.000 GB/s"));
  EXPECT_THAT(bottleneck(100e9, 2e9), HasSubstr("between groups of 64, at 2.000 GB/s"));
}

TEST(Predict, SlowerComputationIsAsGiven) {
  const StepModel run = made_run(kFast, 1, 1);
  const Prediction p = predict(run, kFast, {kFast, {}, 2, 10});
  EXPECT_NEAR(p.compute_ms, 1000, 1e-6);
}

TEST(StepModel, FromAReport) {
  const Report report = report::MadeRun(2, 40).report();
  const StepModel model = step_model(report);
  EXPECT_EQ(model.ranks, 2);
  EXPECT_DOUBLE_EQ(model.samples_per_rank, 8);
  EXPECT_NEAR(model.step_ms, 10, 1e-9);
  EXPECT_NEAR(model.backward_ms, 4.5, 1e-9);
  EXPECT_NEAR(model.exposed_ms, 1, 1e-9);
  EXPECT_DOUBLE_EQ(*model.busy_ms, 2);
  ASSERT_EQ(model.bucket_bytes.size(), 3u);
  EXPECT_DOUBLE_EQ(model.bucket_bytes[0], 1 << 20);
  EXPECT_DOUBLE_EQ(std::accumulate(model.bucket_bytes.begin(), model.bucket_bytes.end(), 0.0),
                   14e6);
}

/// As BERT-large over a slow link: what is measured of its backward pass is the wait.
TEST(StepModel, ABackwardPassThatWaitsIsEstimated) {
  Report report = report::MadeRun(2, 40).report();
  Training& training = report.training;
  training.phases_ms.forward.value->mean = 4;
  training.phases_ms.backward.value->mean = 30;
  training.communication.exposed_ms = 18.0;
  training.communication.busy_ms = 47.0;
  training.step_time_ms.mean = 55.0;
  const StepModel bound = step_model(report);
  EXPECT_DOUBLE_EQ(bound.backward_ms, 10);
  EXPECT_DOUBLE_EQ(bound.exposed_ms, 38);
  EXPECT_DOUBLE_EQ(bound.backward_error_ms, 2);
  EXPECT_THAT(bound.assumptions, testing::Contains(HasSubstr("2.5 forward passes")));
  const Prediction p = predict(bound, kSlow, {kFast, {}, 2});
  EXPECT_NEAR(p.compute_ms, 17, 1e-9);
  EXPECT_LT(p.step_low_ms, p.step_ms - 1.9);
  EXPECT_GT(p.step_high_ms, p.step_ms + 1.9);

  training.communication.busy_ms = 30.0;  // there were pauses: the pass was computation
  EXPECT_DOUBLE_EQ(step_model(report).backward_ms, 30);
  training.communication.busy_ms = 47.0;
  training.phases_ms.backward.value->mean = 9;
  EXPECT_DOUBLE_EQ(step_model(report).backward_ms, 9) << "short enough";
}

TEST(StepModel, OneRankExchangesAllParameters) {
  const StepModel model = step_model(report::MadeRun(1, 40).report());
  EXPECT_EQ(model.ranks, 1);
  EXPECT_NEAR(std::accumulate(model.bucket_bytes.begin(), model.bucket_bytes.end(), 0.0),
              4 * 3504872.0, 1);
  const Prediction p = predict(model, std::nullopt, {kSlow, {}, 2});
  EXPECT_GT(p.step_ms, model.step_ms);
  EXPECT_FALSE(model.assumptions.empty());
}

TEST(StepModel, ARunWithoutAllReduceWouldExchangeAllParameters) {
  Report report = report::MadeRun(2, 40).report();
  report.training.communication.bytes_per_step = std::int64_t{0};
  report.training.communication.calls_per_step = std::int64_t{0};
  const StepModel model = step_model(report);
  EXPECT_EQ(model.ranks, 2);
  EXPECT_NEAR(std::accumulate(model.bucket_bytes.begin(), model.bucket_bytes.end(), 0.0),
              4 * 3504872.0, 1);
  EXPECT_GT(predict(model, kFast, {kSlow, {}, 2}).step_ms,
            predict(model, kFast, {kFast, {}, 2}).step_ms);
}

TEST(Predict, TheBandOfANoisyRunStaysAboveZero) {
  StepModel run = made_run(kFast, 1, 1);
  run.relative_ci95 = 3;
  const Prediction p = predict(run, kFast, {kSlow, {}, 2});
  EXPECT_GT(p.step_low_ms, 0);
  EXPECT_LT(p.step_low_ms, p.step_ms);
}

TEST(StepModel, AReportWithoutStepsIsRefused) {
  try {
    step_model(Report());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("step_time_ms"));
  }
}

}  // namespace
}  // namespace falcon::analysis
