// The training loop on GPUs. Ends with 77, which ctest counts as skipped, where there is none.
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "comm/ranks.h"
#include "ops/image_prepare.h"
#include "platform/detect.h"
#include "telemetry/catalog.h"
#include "telemetry/session.h"
#include "train/detection_metric.h"
#include "train/gpu_kit.h"

namespace falcon::train {
namespace {

using test::fp16_plan;
using test::gpu;
using test::options_on;
using GpuTrainer = test::GpuTest;

std::unique_ptr<Model> mobilenet() {
  ModelOptions options;
  options.classes = 10;
  return make_model("mobilenet_v2", options);
}

TEST_F(GpuTrainer, PreparationKernelEqualsItsTwin) {
  const at::Tensor images = at::randint(0, 256, {5, 24, 32, 3}, at::kByte).to(gpu());
  const at::Tensor flip = at::randint(0, 2, {5}, at::kByte).to(gpu());
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const auto layout : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      const auto options = at::TensorOptions().dtype(type).device(gpu());
      const at::Tensor kernel = at::empty({5, 3, 24, 32}, options, layout);
      const at::Tensor plain = at::empty({5, 3, 24, 32}, options, layout);
      for (const at::Tensor& coins : {flip, at::Tensor()}) {
        ops::prepare_images(images, coins, {}, kernel);
        ops::prepare_images_plain(images, coins, {}, plain);
        const double error =
            (kernel.to(at::kDouble) - plain.to(at::kDouble)).abs().max().item<double>();
        EXPECT_LE(error, type == at::kFloat ? 1e-6 : 0.02) << type << layout;
        EXPECT_GT(plain.to(at::kDouble).abs().max().item<double>(), 1);
      }
    }
  }
}

TEST_F(GpuTrainer, TheScheduleFollowsUpdatesOnTheDevice) {
  RateRows rows;
  rows.by_update = {{0.5, 1.5, 0.25}};
  rows.by_epoch = {{1, 1, 1}, {0.25, 2.5, 0.5}, {0.125, 3.5, 0.75}};
  StepReporter reporter(gpu(), rows, 1);
  LossScaler scaler(gpu());
  const std::vector<double> gradients{1, std::numeric_limits<double>::infinity(), 1};
  for (const double gradient : gradients) {
    scaler.check(at::full({}, gradient, gpu()));
    scaler.update();
    reporter.advance(at::full({}, 2.5, gpu()), &scaler);
  }
  c10::cuda::device_synchronize();
  EXPECT_EQ(*reporter.progress(), 3);
  EXPECT_EQ(reporter.report(1).lr, 0.5);
  EXPECT_EQ(reporter.report(2).lr, 0.25);
  EXPECT_EQ(reporter.report(3).lr, 0.25) << "the skipped step did not advance the schedule";
  EXPECT_EQ(reporter.report(3).skipped, 1);
  EXPECT_EQ(reporter.report(3).loss_scale, 32768);
  EXPECT_EQ(reporter.report(3).loss, 2.5);
  EXPECT_EQ(reporter.rates().lr.item<double>(), 0.125);
  EXPECT_EQ(reporter.rates().bias_lr.item<double>(), 3.5);
  EXPECT_EQ(reporter.rates().momentum.item<double>(), 0.75);
}

TEST_F(GpuTrainer, Fp16StepsAreFiniteAndTheirPhasesSumUp) {
  Plan plan = fp16_plan(1, 32);
  plan.measured_steps = 20;
  const WorkerRecords records = test::run_alone(plan, mobilenet(), options_on(0));
  EXPECT_TRUE(records.loss_scale.has_value());
  ASSERT_EQ(records.loss.size(), 22U);
  for (const auto& loss : records.loss) EXPECT_TRUE(loss.has_value());
  EXPECT_GT(*records.gpu_memory_peak_bytes, 1 << 20);
  ASSERT_EQ(records.phases.ms.at("h2d").size(), 20U);
  test::expect_phases_sum_up(records);
}

TEST_F(GpuTrainer, Fp32StepsAreThoseOfTheCpu) {
  Plan plan = test::small_plan(1, 16);
  const WorkerRecords cpu = test::run_alone(plan, test::make_tiny_model(10));
  const WorkerRecords device = test::run_alone(plan, test::make_tiny_model(10), options_on(0));
  for (std::size_t i = 0; i < cpu.loss.size(); ++i) {
    EXPECT_NEAR(*device.loss[i], *cpu.loss[i], 1e-3 * *cpu.loss[i]) << "step " << i;
  }
}

TEST_F(GpuTrainer, Bf16NeedsNoLossScale) {
  Plan plan = fp16_plan(1, 32);
  plan.spec.precision = "bf16";
  const WorkerRecords records = test::run_alone(plan, mobilenet(), options_on(0));
  EXPECT_FALSE(records.loss_scale.has_value());
  for (const auto& loss : records.loss) EXPECT_TRUE(loss.has_value());
}

constexpr int kWindows = 20;
constexpr int kStepsOfWindow = 15;
constexpr int kSettlingSteps = 30;

/// Steps of neighbouring windows, with and without in turn; switch_on is called by rank 0 while all
/// stand still. In milliseconds, of rank 0.
std::vector<double> alternating_steps(
    int world, const std::function<void(test::Rank& rank, bool on)>& switch_on) {
  Plan plan = fp16_plan(world, 256);  // the GPU is the limit: steps vary by a part in a thousand
  plan.spec.image_size = 224;
  std::vector<double> steps_ms;
  const auto measure = [&](comm::ProcessGroup* group) {
    const int number = group == nullptr ? 0 : group->rank();
    test::Rank rank(plan, mobilenet(), group, options_on(number));
    for (int step = 0; step < plan.warmup_steps + kSettlingSteps; ++step) rank.trainer().step();
    for (int window = 0; window < kWindows; ++window) {
      rank.trainer().finish();
      if (group != nullptr) group->barrier();
      if (number == 0) switch_on(rank, window % 2 == 0);
      for (int step = 0; step < kStepsOfWindow; ++step) rank.trainer().step();
    }
    rank.trainer().finish();
    if (number == 0) steps_ms = rank.records().step_ms;
  };
  if (world == 1) {
    measure(nullptr);
  } else {
    test::run_ranks(
        world, [&](comm::ProcessGroup& group) { measure(&group); }, comm::Backend::kNccl);
  }
  return steps_ms;
}

/// Ten pairs of neighbouring windows of one run: the upper end of the 95 % interval (one-sided,
/// Student t, 9 degrees of freedom) of with / without - 1.
double cost_bound(int world, const std::function<void(test::Rank& rank, bool on)>& switch_on) {
  const std::vector<double> steps_ms = alternating_steps(world, switch_on);
  std::vector<double> ratios;
  for (std::size_t pair = 0; pair < kWindows / 2; ++pair) {
    double sums[2] = {};
    for (std::size_t i = 0; i < 2 * kStepsOfWindow; ++i) {
      // the first step of a window waited for the switch
      if (i % kStepsOfWindow == 0) continue;
      sums[i / kStepsOfWindow] += steps_ms[kSettlingSteps + pair * 2 * kStepsOfWindow + i];
    }
    ratios.push_back(sums[0] / sums[1] - 1);
  }
  double mean = 0;
  double squares = 0;
  for (const double ratio : ratios) mean += ratio / static_cast<double>(ratios.size());
  for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
  constexpr double kStudent = 1.833;
  const double bound = mean + kStudent * std::sqrt(squares / (9 * 10));
  std::cout << "cost on " << world << " GPUs " << 100 * mean << " %, at most " << 100 * bound
            << " %\n";
  return bound;
}

TEST_F(GpuTrainer, TheMarksCostLessThanOnePercent) {
  EXPECT_LT(
      cost_bound(1, [](test::Rank& rank, bool on) { rank.trainer().clock().set_enabled(on); }),
      0.01);
}

/// All samplers of all GPUs, at the default interval.
void expect_telemetry_to_cost_little(int world) {
  telemetry::SamplerContext context;
  context.nvml = std::make_shared<const platform::Nvml>();
  context.processes = {{::getpid(), "rank 0"}};
  platform::DetectOptions detection;
  detection.nvml = context.nvml;
  for (const Gpu& board : platform::detect(detection).gpus) {
    context.gpus.push_back({"cuda", board.uuid, board.pci_address, board.name});
  }
  ASSERT_GE(context.gpus.size(), static_cast<std::size_t>(world));
  std::unique_ptr<telemetry::Session> session;
  const double bound = cost_bound(world, [&](test::Rank&, bool on) {
    session.reset();
    if (!on) return;
    session = std::make_unique<telemetry::Session>(telemetry::make_samplers(context, {}),
                                                   telemetry::SessionOptions{});
    session->start();
  });
  EXPECT_LT(bound, 0.01);
}

TEST_F(GpuTrainer, TelemetryCostsLessThanOnePercent) {
  expect_telemetry_to_cost_little(1);
}

TEST_F(GpuTrainer, TelemetryOfTwoGpusCostsLessThanOnePercent) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  expect_telemetry_to_cost_little(2);
}

/// Of YOLOv5's outputs for 640 pixels, one row in fifty an object.
TEST_F(GpuTrainer, DetectionsAreMeasuredAsOnTheCpu) {
  const at::Tensor predictions = at::rand({4, 25200, 15});
  predictions.narrow(2, 0, 4).mul_(200);
  predictions.narrow(2, 4, 11).pow_(8);
  predictions.select(2, 4).mul_(at::rand({4, 25200}).lt(0.02));
  const at::Tensor targets = at::rand({4, 8, 5}).mul_(0.3);
  targets.select(2, 0).copy_(at::randint(-1, 10, {4, 8}));
  const std::vector<NamedTensor> tensors = {
      {"images", at::zeros({4, 3, 640, 640})},
      {"targets", targets},
      {"crowd", at::randint(0, 2, {4, 8}, at::kByte)},
      {"content", at::tensor({0.F, 0.1F, 1.F, 0.9F}).repeat({4, 1})}};
  const std::vector<std::int64_t> samples = {0, 1, -1, 2};
  std::string states[2];
  for (int on_gpu = 0; on_gpu < 2; ++on_gpu) {
    const at::Device device = on_gpu ? gpu() : at::Device(at::kCPU);
    Batch batch;
    for (const NamedTensor& entry : tensors) {
      batch.tensors.push_back({entry.name, entry.tensor.to(device)});
    }
    const auto metric = make_detection_metric();
    metric->add({predictions.to(device)}, batch, samples);
    states[on_gpu] = metric->state();
  }
  EXPECT_GT(states[0].size(), 10000U);
  EXPECT_EQ(states[0], states[1]);
}

TEST_F(GpuTrainer, TwoRanksOverNcclEndWithTheSameParameters) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  std::vector<WorkerRecords> records(2);
  Plan plan = fp16_plan(2, 16);
  plan.measured_steps = 30;
  test::run_ranks(
      2,
      [&](comm::ProcessGroup& group) {
        test::Rank rank(plan, mobilenet(), &group, options_on(group.rank()));
        rank.trainer().run();
        records[static_cast<std::size_t>(group.rank())] = rank.records();
      },
      comm::Backend::kNccl);
  EXPECT_EQ(records[0].parameter_hash, records[1].parameter_hash);
  EXPECT_EQ(records[0].measured_steps, 30);
  EXPECT_EQ(records[1].measured_steps, 30);
  EXPECT_EQ(records[0].communication.bytes_per_step, records[0].parameters * 4);
  EXPECT_EQ(records[0].phases.ms.at("communication_exposed").size(), 30U);
  ASSERT_TRUE(records[0].communication.busy_ms.has_value());
  EXPECT_GT(*records[0].communication.busy_ms, 0);
}

/// Replicas draw what ranks draw, so the losses are those of two ranks. Ranks hold their weights in
/// 16 bit, so gradients differ by a rounding: at a low rate, or it would grow from step to step.
TEST_F(GpuTrainer, ReplicasOnTwoGpusTrainAsTwoRanks) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  std::vector<WorkerRecords> ranks(2);
  Plan plan = fp16_plan(2, 16);
  plan.spec.optimizer.lr = 1e-3;
  test::run_ranks(
      2,
      [&](comm::ProcessGroup& group) {
        test::Rank rank(plan, mobilenet(), &group, options_on(group.rank()));
        rank.trainer().run();
        ranks[static_cast<std::size_t>(group.rank())] = rank.records();
      },
      comm::Backend::kNccl);
  Plan joined = fp16_plan(1, 32);
  joined.spec.optimizer.lr = plan.spec.optimizer.lr;
  joined.parallelism = "dp";
  TrainerOptions options = options_on(0);
  options.more_devices = {test::gpu(1)};
  options.make_replica = [](at::Device device) {
    std::unique_ptr<Model> replica = mobilenet();
    replica->to(device, at::kFloat, /*channels_last=*/true);
    return replica;
  };
  const WorkerRecords replicas = test::run_alone(joined, mobilenet(), options);
  ASSERT_EQ(replicas.loss.size(), ranks[0].loss.size());
  for (std::size_t i = 0; i < replicas.loss.size(); ++i) {
    const double want = (*ranks[0].loss[i] + *ranks[1].loss[i]) / 2;
    EXPECT_NEAR(*replicas.loss[i], want, (i == 0 ? 1e-4 : 0.05) * want) << "step " << i;
  }
}

}  // namespace
}  // namespace falcon::train

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (c10::cuda::device_count() == 0) return 77;
  return RUN_ALL_TESTS();
}
