// A step as a CUDA graph against the same step enqueued kernel by kernel.
#include <memory>

#include <ATen/Context.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>

#include "comm/ranks.h"
#include "train/gpu_kit.h"
#include "train/graph_nodes.h"
#include "train/kernel_times.h"

namespace falcon::train {
namespace {

using test::fp16_plan;
using test::gpu;
using test::options_on;

/// With kernels that give the same bits in every run, as far as there are some.
class GraphTest : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    at::globalContext().setDeterministicCuDNN(true);
  }
  void TearDown() override {
    at::globalContext().setDeterministicAlgorithms(false, false);
    at::globalContext().setDeterministicCuDNN(false);
  }
};

constexpr std::int64_t kSteps = 30;

Plan graph_plan(int world, std::int64_t batch) {
  Plan plan = fp16_plan(world, batch);
  plan.graphs = true;
  // among ranks the exchange is timed in replays of the warm-up
  plan.warmup_steps = kGraphWarmupSteps + (world > 1 ? 4 : 0);
  plan.measured_steps = kSteps - kGraphWarmupSteps;
  return plan;
}

ModelOptions options_of(const Plan& plan) {
  ModelOptions options;
  options.classes = *plan.spec.model_options.classes;
  options.image_size = *plan.spec.image_size;
  return options;
}

std::unique_ptr<Model> model_of(const Plan& plan) {
  ModelOptions options = options_of(plan);
  if (plan.spec.model.starts_with("bert")) {
    options.layers = 2;
    options.hidden_size = 128;
    options.heads = 2;
  }
  return make_model(plan.spec.model, options);
}

/// The same plan with and without a graph: the same bits in all losses and in the weights at the
/// end.
void expect_equal_runs(Plan plan) {
  const bool channels_last = !plan.spec.model.starts_with("bert");
  const WorkerRecords graph = test::run_alone(plan, model_of(plan), options_on(0, channels_last));
  ASSERT_TRUE(graph.graph.has_value()) << graph.graph.reason;
  plan.graphs = false;
  const WorkerRecords eager = test::run_alone(plan, model_of(plan), options_on(0, channels_last));
  EXPECT_FALSE(eager.graph.has_value());
  ASSERT_EQ(graph.loss.size(), static_cast<std::size_t>(kSteps));
  for (std::size_t i = 0; i < graph.loss.size(); ++i) {
    ASSERT_TRUE(graph.loss[i] && eager.loss[i]) << "step " << i;
    EXPECT_EQ(*graph.loss[i], *eager.loss[i]) << "step " << i;
  }
  EXPECT_EQ(graph.lr, eager.lr);
  EXPECT_EQ(*graph.loss_scale, *eager.loss_scale);
  EXPECT_EQ(graph.parameter_hash, eager.parameter_hash);
  EXPECT_NE(*graph.loss.front(), *graph.loss.back());
}

TEST_F(GraphTest, MobilenetTrainsAsWithoutGraph) {
  Plan plan = graph_plan(1, 32);
  plan.spec.model = "mobilenet_v2";
  plan.spec.image_size = 64;
  expect_equal_runs(plan);
}

TEST_F(GraphTest, ResnetTrainsAsWithoutGraph) {
  Plan plan = graph_plan(1, 32);
  plan.spec.model = "resnet50";
  plan.spec.image_size = 64;
  expect_equal_runs(plan);
}

/// With dropout: each replay draws new numbers, and the ones of the step.
TEST_F(GraphTest, BertTrainsAsWithoutGraph) {
  Plan plan = graph_plan(1, 8);
  plan.spec.model = "bert_base";
  plan.task = "question_answering";
  plan.spec.image_size = 32;
  plan.spec.sequence_length = 128;
  plan.spec.optimizer.kind = "adamw";
  plan.spec.optimizer.lr = 1e-4;
  plan.spec.optimizer.beta1 = 0.9;
  plan.spec.optimizer.beta2 = 0.999;
  plan.spec.optimizer.eps = 1e-8;
  plan.spec.optimizer.clip_norm = 1;
  expect_equal_runs(plan);
}

TEST_F(GraphTest, YoloTrainsAsWithoutGraph) {
  Plan plan = graph_plan(1, 8);
  plan.spec.model = "yolov5n";
  plan.spec.image_size = 128;
  plan.spec.optimizer.lr = 0.01;
  plan.spec.optimizer.nesterov = true;
  plan.spec.optimizer.clip_norm = 10;
  plan.spec.optimizer.ema_decay = 0.999;
  expect_equal_runs(plan);
}

TEST_F(GraphTest, MicroBatchesTrainAsWithoutGraph) {
  Plan plan = graph_plan(1, 32);
  plan.spec.model = "mobilenet_v2";
  plan.spec.image_size = 64;
  plan.spec.accumulate = 4;
  plan.micro_batch = 8;
  expect_equal_runs(plan);
}

TEST_F(GraphTest, PhasesAreMarkedInEveryReplay) {
  Plan plan = graph_plan(1, 64);
  plan.spec.model = "mobilenet_v2";
  plan.spec.image_size = 96;
  const WorkerRecords records = test::run_alone(plan, model_of(plan), options_on(0));
  ASSERT_TRUE(records.graph.has_value());
  EXPECT_GT(records.graph.value->memory_bytes, 0);
  EXPECT_GT(records.graph.value->eager_peak_bytes, 0);
  test::expect_phases_sum_up(records);
  for (std::size_t step = 0; step < records.step_ms.size(); ++step) {
    EXPECT_GT(records.phases.ms.at("forward")[step], 0.05);
    EXPECT_GT(records.phases.ms.at("backward")[step], 0.05);
    EXPECT_GT(records.phases.ms.at("optimizer")[step], 0.001);
  }
}

TEST_F(GraphTest, ReplaysAreTraced) {
  Plan plan = graph_plan(1, 64);
  plan.spec.model = "mobilenet_v2";
  plan.spec.image_size = 96;
  test::Rank rank(plan, model_of(plan), nullptr, options_on(0));
  rank.trainer().run();
  const TraceRecord trace = rank.trainer().trace(4);
  EXPECT_EQ(trace.steps, 4);
  ASSERT_TRUE(trace.gpu_busy_pct.has_value()) << trace.gpu_busy_pct.reason;
  EXPECT_GT(*trace.gpu_busy_pct, 5);  // so small a step waits for its host
  EXPECT_LE(*trace.gpu_busy_pct, 100);
  std::int64_t kernels = 0;
  for (const std::int64_t track : trace.track) {
    kernels += trace.tracks.at(static_cast<std::size_t>(track)).starts_with("GPU stream") ? 1 : 0;
  }
  EXPECT_GT(kernels, 4 * 100);
}

/// Beside a branch of other work, and in the graph as it was when the events are gone.
TEST_F(GraphTest, KernelsAreTimedBesideOthers) {
  const at::Tensor a = at::randn({4096, 4096}, gpu());
  const at::Tensor large = at::empty({std::int64_t{1} << 28}, gpu());  // 1 GB, 0.2 ms at 4.8 TB/s
  const c10::cuda::CUDAStream main = c10::cuda::getStreamFromPool();
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool();
  const c10::cuda::CUDAStreamGuard guard(main);
  at::cuda::CUDAGraph graph(/*keep_graph=*/true);
  const at::Tensor warm = a.mm(a);
  c10::cuda::device_synchronize();
  graph.capture_begin();
  at::Tensor product = a.mm(a);
  for (int i = 0; i < 3; ++i) {
    at::cuda::CUDAEvent forked, joined;
    forked.record(main);
    {
      const c10::cuda::CUDAStreamGuard on_side(side);
      forked.block(side);
      large.fill_(i);
      joined.record(side);
    }
    for (int j = 0; j < 20; ++j) product = a.mm(a);
    joined.block(main);
  }
  graph.capture_end();
  const auto shape = [&] {
    std::size_t edges = 0;
    C10_CUDA_CHECK(cudaGraphGetEdges(graph.raw_cuda_graph(), nullptr, nullptr, nullptr, &edges));
    return std::pair(nodes_of(graph.raw_cuda_graph()).size(), edges);
  };
  const auto before = shape();
  KernelTimes times(graph.raw_cuda_graph(), "FillFunctor");
  ASSERT_EQ(times.count(), 3U);
  graph.instantiate();
  for (std::int64_t step = 0; step < 3; ++step) {
    times.prepare(graph.raw_cuda_graph_exec(), step);
    graph.replay();
  }
  for (std::int64_t step = 0; step < 3; ++step) {
    EXPECT_GT(times.busy_ms(step), 3 * 0.18);
    EXPECT_LT(times.busy_ms(step), 3 * 60 * 1.0);
  }
  times.leave_graph();
  EXPECT_EQ(shape(), before);
  graph.instantiate();
  graph.replay();
  c10::cuda::device_synchronize();
  EXPECT_EQ(large[12345].item<float>(), 2);
}

TEST_F(GraphTest, StepsOfBatchNormalisationAreCounted) {
  Plan plan = graph_plan(1, 16);
  plan.spec.model = "mobilenet_v2";
  plan.spec.accumulate = 2;
  plan.micro_batch = 8;
  test::Rank rank(plan, model_of(plan), nullptr, options_on(0));
  rank.trainer().run();
  std::int64_t seen = 0;
  for (const NamedTensor& entry : rank.model().buffers()) {
    if (!entry.name.ends_with("num_batches_tracked")) continue;
    EXPECT_EQ(entry.tensor.item<std::int64_t>(), 2 * kSteps) << entry.name;
    ++seen;
  }
  EXPECT_GT(seen, 50);
}

/// A model that asks the device in every forward pass, which no graph can hold.
class AskingModel : public Model {
 public:
  explicit AskingModel(std::unique_ptr<Model> model) : model_(std::move(model)) {}
  std::vector<at::Tensor> forward(const Batch& batch) override {
    std::vector<at::Tensor> outputs = model_->forward(batch);
    last_sum = outputs[0].sum().item<double>();
    return outputs;
  }
  at::Tensor loss(const std::vector<at::Tensor>& outputs, const Batch& batch) override {
    return model_->loss(outputs, batch);
  }
  std::vector<NamedTensor> parameters() const override { return model_->parameters(); }
  std::vector<NamedTensor> buffers() const override { return model_->buffers(); }
  std::vector<NamedTensor> state() const override { return model_->state(); }
  void set_training(bool training) override { model_->set_training(training); }
  void to(at::Device device, at::ScalarType type, bool channels_last) override {
    model_->to(device, type, channels_last);
  }
  void initialize(std::uint64_t seed) override { model_->initialize(seed); }
  void set_tap(TapFunction tap) override { model_->set_tap(std::move(tap)); }
  void set_fused(bool fused) override { model_->set_fused(fused); }
  double last_sum = 0;

 private:
  std::unique_ptr<Model> model_;
};

TEST_F(GraphTest, WhatCannotBeCapturedGoesOnWithoutAndSaysSo) {
  Plan plan = graph_plan(1, 16);
  plan.spec.model = "mobilenet_v2";
  test::Rank rank(plan, std::make_unique<AskingModel>(model_of(plan)), nullptr, options_on(0));
  rank.trainer().run();
  const WorkerRecords records = rank.records();
  EXPECT_FALSE(records.graph.has_value());
  EXPECT_TRUE(records.graph.reason.starts_with(kCaptureFailed)) << records.graph.reason;
  EXPECT_EQ(records.measured_steps, kSteps - kGraphWarmupSteps);
  for (const auto& loss : records.loss) EXPECT_TRUE(loss.has_value());
  for (const NamedTensor& entry : rank.model().buffers()) {
    if (!entry.tensor.is_cpu()) continue;
    EXPECT_EQ(entry.tensor.item<std::int64_t>(), kSteps) << entry.name;
  }
  plan.spec.engine.graphs = "on";
  test::Rank strict(plan, std::make_unique<AskingModel>(model_of(plan)), nullptr, options_on(0));
  EXPECT_THROW(strict.trainer().run(), Error);
}

/// What each of two ranks says.
std::vector<WorkerRecords> run_two(const Plan& plan) {
  std::vector<WorkerRecords> records(2);
  const bool channels_last = !plan.spec.model.starts_with("bert");
  test::run_ranks(
      2,
      [&](comm::ProcessGroup& group) {
        test::Rank rank(plan, model_of(plan), &group, options_on(group.rank(), channels_last));
        rank.trainer().run();
        records[static_cast<std::size_t>(group.rank())] = rank.records();
      },
      comm::Backend::kNccl);
  EXPECT_EQ(records[0].parameter_hash, records[1].parameter_hash);
  return records;
}

WorkerRecords expect_equal_runs_of_two(Plan plan) {
  const WorkerRecords graph = run_two(plan)[0];
  EXPECT_TRUE(graph.graph.has_value()) << graph.graph.reason;
  plan.graphs = false;
  const WorkerRecords eager = run_two(plan)[0];
  EXPECT_EQ(graph.loss, eager.loss);
  EXPECT_EQ(graph.parameter_hash, eager.parameter_hash);
  EXPECT_EQ(graph.communication.bytes_per_step, eager.communication.bytes_per_step);
  EXPECT_EQ(graph.phases.ms.at("communication_exposed").size(), kSteps - kGraphWarmupSteps);
  EXPECT_TRUE(graph.communication.busy_ms.has_value() && *graph.communication.busy_ms > 0.01);
  return graph;
}

TEST_F(GraphTest, TwoRanksOverNcclTrainAsWithoutGraph) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  Plan plan = graph_plan(2, 16);
  plan.spec.model = "mobilenet_v2";
  plan.spec.image_size = 64;
  const WorkerRecords records = expect_equal_runs_of_two(plan);
  EXPECT_EQ(records.communication.bytes_per_step, records.parameters * 4);
  EXPECT_EQ(records.step_ms.size(), kSteps - kGraphWarmupSteps);
}

/// Small units, so that parameters come and go in the step.
TEST_F(GraphTest, ShardedRanksTrainAsWithoutGraph) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  for (const char* model : {"mobilenet_v2", "bert_base"}) {
    for (const std::int64_t accumulate : {1, 2}) {
      Plan plan = graph_plan(2, 16);
      plan.spec.model = model;
      plan.spec.image_size = 64;
      plan.spec.sequence_length = 128;
      plan.spec.optimizer.lr = 1e-3;
      plan.spec.optimizer.clip_norm = 1;
      plan.spec.accumulate = accumulate;
      plan.micro_batch = 16 / accumulate;
      const WorkerRecords ddp = run_two(plan)[0];
      plan.parallelism = "sharded";
      plan.spec.parallelism.sharded.unit_mb = 0.3;
      for (const int stage : {1, 2, 3}) {
        SCOPED_TRACE(std::string(model) + " stage " + std::to_string(stage));
        plan.spec.parallelism.sharded.stage = stage;
        const WorkerRecords records = expect_equal_runs_of_two(plan);
        EXPECT_NEAR(*records.loss.back(), *ddp.loss.back(), 0.05 * *ddp.loss.back());
      }
    }
  }
}

}  // namespace
}  // namespace falcon::train
