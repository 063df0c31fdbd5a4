// Several ranks against one process, in float64.
#include "comm/ranks.h"

#include <array>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "data/options.h"
#include "ops/image_prepare.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

constexpr std::int64_t kBatch = 4;
// Large enough that the last maps are not single pixels: statistics over 4 values would make the
// steps chaotic, and rounding would show.
constexpr std::int64_t kSide = 64;
constexpr int kSteps = 5;

struct Outcome {
  std::vector<at::Tensor> parameters, gradients;
  std::vector<at::Tensor> buffers;
};

Outcome outcome_of(Model& model) {
  Outcome outcome;
  for (const NamedTensor& entry : model.parameters()) {
    outcome.parameters.push_back(entry.tensor.detach().clone());
    outcome.gradients.push_back(entry.tensor.grad().clone());
  }
  for (const NamedTensor& entry : model.buffers()) outcome.buffers.push_back(entry.tensor.clone());
  return outcome;
}

std::unique_ptr<Model> model_of(const std::string& name, int slices) {
  ModelOptions options;
  options.classes = 10;
  options.ranks = slices;
  if (name == "mobilenet_v2" || name.starts_with("bert")) options.dropout = 0;
  options.layers = 2;  // of the transformers
  options.hidden_size = 16;
  options.heads = 2;
  return make_model(name, options);
}

/// Ranks, and micro-batches of each.
struct Split {
  int ranks = 1;
  int micro_batches = 1;
  int slices() const { return ranks * micro_batches; }
};

Plan plan_of(const std::string& name, const Split& split) {
  Plan plan = test::small_plan(split.ranks, kBatch * split.micro_batches);
  plan.spec.accumulate = split.micro_batches;
  plan.micro_batch = kBatch;
  plan.spec.model = name;
  plan.spec.image_size = kSide;
  plan.spec.sequence_length = 24;
  plan.spec.optimizer.lr = 1e-4;
  plan.spec.parallelism.ddp.first_bucket_mb = 0.01;  // the transformer's layers are small, too
  plan.warmup_steps = 1;
  plan.measured_steps = kSteps - 1;
  return plan;
}

TrainerOptions float64() {
  TrainerOptions options;
  options.model_type = at::kDouble;
  return options;
}

/// The same steps in one process without the trainer: the micro-batches of all ranks one by one,
/// gradients averaged, the first rank's buffers kept, and SGD as its formula says.
class MicroBatches {
 public:
  MicroBatches(const Plan& plan, std::unique_ptr<Model> model)
      : slices_(static_cast<std::int64_t>(plan.ranks.size()) * plan.spec.accumulate),
        slices_of_root_(plan.spec.accumulate),
        model_(std::move(model)),
        allocator_(false),
        dataset_(data::make_dataset(data::dataset_options(plan.spec, "", 10))),
        loader_(*dataset_,
                data::BatchSchedule({.samples = dataset_->size(),
                                     .global_batch = plan.global_batch,
                                     .seed = static_cast<std::uint64_t>(plan.spec.seed)}),
                allocator_, {.threads = 1, .slots = 2}) {
    model_->initialize(static_cast<std::uint64_t>(plan.spec.seed));
    model_->to(at::kCPU, at::kDouble, false);
    for (const NamedTensor& entry : model_->parameters()) {
      velocities_.push_back(at::zeros_like(entry.tensor));
    }
  }

  void step(const OptimizerSpec& optimizer) {
    const data::LoadedBatch& loaded = loader_.next();
    for (const NamedTensor& entry : model_->parameters()) entry.tensor.mutable_grad().reset();
    std::vector<at::Tensor> sums;
    for (std::int64_t slice = 0; slice < slices_; ++slice) add_slice(loaded, slice, sums);
    loader_.release(loaded);
    const at::NoGradGuard no_grad;
    const std::vector<NamedTensor> parameters = model_->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      at::Tensor value = parameters[i].tensor;
      value.mutable_grad() = sums[i] / static_cast<double>(slices_);
      velocities_[i] = velocities_[i] * *optimizer.momentum + value.grad() +
                       value.detach() * *optimizer.weight_decay;
      value.sub_(velocities_[i] * *optimizer.lr);
    }
  }

  Model& model() { return *model_; }

 private:
  void add_slice(const data::LoadedBatch& loaded, std::int64_t slice,
                 std::vector<at::Tensor>& sums) {
    const Outcome before = slice < slices_of_root_ ? Outcome{} : buffers();
    Batch batch = batch_of(loaded, slice);
    model_->loss(model_->forward(batch), batch).backward();
    const at::NoGradGuard no_grad;
    std::size_t i = 0;
    for (const NamedTensor& entry : model_->parameters()) {
      if (slice == 0) sums.push_back(at::zeros_like(entry.tensor));
      sums[i++].add_(entry.tensor.grad());
      entry.tensor.mutable_grad().reset();
    }
    i = 0;
    for (const NamedTensor& entry : model_->buffers()) {
      if (slice >= slices_of_root_) entry.tensor.copy_(before.buffers[i++]);
    }
  }

  Outcome buffers() {
    Outcome outcome;
    for (const NamedTensor& entry : model_->buffers()) {
      outcome.buffers.push_back(entry.tensor.clone());
    }
    return outcome;
  }

  Batch batch_of(const data::LoadedBatch& loaded, std::int64_t slice) const {
    const std::vector<TensorLayout> layout = dataset_->layout();
    const auto rows = [&](std::size_t i) {
      std::vector<std::int64_t> shape = layout[i].sample_shape;
      shape.insert(shape.begin(), slices_ * kBatch);
      const at::ScalarType type = layout[i].type == ElementType::kUint8     ? at::kByte
                                  : layout[i].type == ElementType::kFloat32 ? at::kFloat
                                                                            : at::kLong;
      return at::from_blob(loaded.tensors[i], shape, type).narrow(0, slice * kBatch, kBatch);
    };
    Batch batch;
    for (std::size_t i = 0; i < layout.size(); ++i) {
      if (layout[i].name == "flip") continue;
      batch.tensors.push_back({layout[i].name, rows(i).clone()});
    }
    if (layout[0].name == "images") {
      const at::Tensor flip = layout.size() > 2 ? rows(2) : at::Tensor();
      const at::Tensor pictures = at::empty({kBatch, 3, kSide, kSide}, at::kDouble);
      ops::prepare_images_plain(rows(0), flip, model_->image_normalization(), pictures);
      batch.tensors[0].tensor = pictures;
    }
    return batch;
  }

  std::int64_t slices_;
  std::int64_t slices_of_root_;
  std::unique_ptr<Model> model_;
  HostAllocator allocator_;
  std::unique_ptr<Dataset> dataset_;
  data::Loader loader_;
  std::vector<at::Tensor> velocities_;
};

void expect_near(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                 const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double size = want[i].abs().max().item<double>();
    const double error = (got[i] - want[i]).abs().max().item<double>();
    EXPECT_LE(error, 1e-9 * std::max(1.0, size)) << what << " " << i;
  }
}

using Case = std::tuple<std::string, Split>;

class RanksAgainstMicroBatches : public testing::TestWithParam<Case> {};

/// One rank of the case; gives its parameters' hash.
std::string run_rank(const Case& one, comm::ProcessGroup* group, const Outcome& want) {
  const auto& [name, split] = one;
  test::Rank rank(plan_of(name, split), model_of(name, split.slices()), group, float64());
  rank.trainer().run();
  const Outcome got = outcome_of(rank.model());
  EXPECT_FALSE(got.parameters.empty());
  expect_near(got.parameters, want.parameters, "parameter");
  expect_near(got.gradients, want.gradients, "gradient");
  if (group == nullptr || group->rank() == 0) expect_near(got.buffers, want.buffers, "buffer");
  const WorkerRecords records = rank.records();
  EXPECT_EQ(records.phases.ms.at("backward").size(), records.step_ms.size());
  if (group == nullptr) return records.parameter_hash;
  EXPECT_EQ(records.communication.bytes_per_step, records.parameters * 8);
  EXPECT_GE(records.communication.calls_per_step, 2);
  EXPECT_GT(*records.communication.busy_ms.value, 0);
  EXPECT_EQ(records.phases.ms.at("communication_exposed").size(), records.step_ms.size());
  return records.parameter_hash;
}

TEST_P(RanksAgainstMicroBatches, SameGradientsParametersAndBuffers) {
  const auto& [name, split] = GetParam();
  const Plan plan = plan_of(name, split);
  MicroBatches reference(plan, model_of(name, split.slices()));
  for (int step = 0; step < kSteps; ++step) reference.step(plan.spec.optimizer);
  const Outcome want = outcome_of(reference.model());
  if (split.ranks == 1) {
    run_rank(GetParam(), nullptr, want);
    return;
  }
  std::vector<std::string> hashes(static_cast<std::size_t>(split.ranks));
  test::run_ranks(split.ranks, [&](comm::ProcessGroup& group) {
    hashes[static_cast<std::size_t>(group.rank())] = run_rank(GetParam(), &group, want);
  });
  for (const std::string& hash : hashes) EXPECT_EQ(hash, hashes[0]);
}

std::vector<Case> cases() {
  return {{"mobilenet_v2", {2}}, {"mobilenet_v2", {4}}, {"mobilenet_v2", {1, 3}},
          {"resnet50", {2}},     {"resnet50", {4}},     {"resnet50", {2, 2}},
          {"yolov5n", {2}},      {"yolov5n", {3}},      {"yolov5n", {2, 2}},
          {"bert_base", {2}},    {"bert_base", {4}},    {"bert_base", {2, 2}},
          {"bert_base", {1, 4}}};
}

std::string name_of_case(const testing::TestParamInfo<Case>& instance) {
  const Split& split = std::get<1>(instance.param);
  return std::get<0>(instance.param) + "_" + std::to_string(split.ranks) + "x" +
         std::to_string(split.micro_batches);
}

INSTANTIATE_TEST_SUITE_P(Models, RanksAgainstMicroBatches, testing::ValuesIn(cases()),
                         name_of_case);

/// Steps that each of 3 ranks did, and the measured seconds of rank 0.
std::pair<std::array<std::int64_t, 3>, double> run_three(Plan plan, std::int64_t stop_at) {
  std::array<std::int64_t, 3> steps{};
  double measured_s = 0;
  test::run_ranks(3, [&](comm::ProcessGroup& group) {
    test::Rank rank(plan, test::make_tiny_model(10), &group);
    rank.control().stop = [&] { return *rank.trainer().progress() >= stop_at; };
    rank.trainer().run();
    const WorkerRecords records = rank.records();
    steps[static_cast<std::size_t>(group.rank())] = records.warmup_steps + records.measured_steps;
    if (group.rank() == 0) measured_s = records.measured_end_s - records.measured_begin_s;
  });
  return {steps, measured_s};
}

TEST(Ranks, AStopInTheMiddleEndsAllOnTheSameStep) {
  Plan plan = test::small_plan(3, 4);
  plan.measured_steps = 1000000;
  const auto [steps, measured_s] = run_three(plan, 40);
  EXPECT_GE(steps[0], 40);
  EXPECT_LT(steps[0], 100000);
  EXPECT_EQ(steps[1], steps[0]);
  EXPECT_EQ(steps[2], steps[0]);
  EXPECT_GT(measured_s, 0);
}

TEST(Ranks, ABudgetOfSecondsEndsAllOnTheSameStep) {
  Plan plan = test::small_plan(3, 4);
  plan.measured_steps.reset();
  plan.spec.budget.seconds = 0.6;
  const auto [steps, measured_s] = run_three(plan, 1000000000);
  EXPECT_GT(steps[0], 3);
  EXPECT_EQ(steps[1], steps[0]);
  EXPECT_EQ(steps[2], steps[0]);
  EXPECT_GT(measured_s, 0.4);
  EXPECT_LT(measured_s, 3);
}

}  // namespace
}  // namespace falcon::train
