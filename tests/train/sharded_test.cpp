// What is divided among ranks comes to the same as what every rank has.
#include <cmath>
#include <filesystem>

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "comm/ranks.h"
#include "models/weights.h"
#include "train/micro_batches.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

using Case = std::tuple<std::string, test::Split>;

/// Units of a few KiB, so that there are many.
void shard(Plan& plan, int stage) {
  plan.parallelism = "sharded";
  plan.spec.parallelism.sharded.stage = stage;
  plan.spec.parallelism.sharded.unit_mb = 0.01;
}

/// On rank 0, one a parameter.
std::vector<at::Tensor> whole_gradients(Trainer& trainer) {
  std::vector<at::Tensor> parts;
  for (const Slice& slice : trainer.strategy().slices()) parts.push_back(slice.gradient);
  return trainer.strategy().whole(parts);
}

class ShardedAgainstMicroBatches : public testing::TestWithParam<Case> {};

void expect_outcome(const Plan& plan, const test::Outcome& want) {
  const auto ranks = static_cast<int>(plan.ranks.size());
  const int slices = ranks * static_cast<int>(plan.spec.accumulate);
  std::vector<WorkerRecords> records(plan.ranks.size());
  test::run_ranks(ranks, [&](comm::ProcessGroup& group) {
    test::Rank rank(plan, test::compared_model(plan.spec.model, slices), &group, test::float64());
    rank.trainer().run();
    const test::Outcome got = test::outcome_of(rank.model());
    test::expect_near(got.parameters, want.parameters, "parameter");
    const std::vector<at::Tensor> gradients = whole_gradients(rank.trainer());
    if (group.rank() == 0) {
      test::expect_near(gradients, want.gradients, "gradient");
      test::expect_near(got.buffers, want.buffers, "buffer");
    }
    records[static_cast<std::size_t>(group.rank())] = rank.records();
  });
  for (const WorkerRecords& record : records) {
    EXPECT_EQ(record.parameter_hash, records[0].parameter_hash);
    EXPECT_GE(record.communication.bytes_per_step, 2 * record.parameters * 8);
    EXPECT_GT(*record.communication.busy_ms.value, 0);
    EXPECT_EQ(record.phases.ms.at("communication_exposed").size(), record.step_ms.size());
  }
}

TEST_P(ShardedAgainstMicroBatches, SameGradientsParametersAndBuffers) {
  const auto& [name, split] = GetParam();
  const test::Outcome want = test::of_micro_batches(name, split);
  Plan plan = test::compared_plan(name, split);
  for (const int stage : {1, 2, 3}) {
    SCOPED_TRACE("stage " + std::to_string(stage));
    shard(plan, stage);
    expect_outcome(plan, want);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* name : {"mobilenet_v2", "resnet50", "yolov5n", "bert_base", "bert_large"}) {
    for (const test::Split& split : {test::Split{2, 1}, {4, 1}, {2, 2}}) {
      all.emplace_back(name, split);
    }
  }
  all.emplace_back("bert_base", test::Split{3, 3});
  return all;
}

std::string name_of_case(const testing::TestParamInfo<Case>& instance) {
  const test::Split& split = std::get<1>(instance.param);
  return std::get<0>(instance.param) + "_" + std::to_string(split.ranks) + "x" +
         std::to_string(split.micro_batches);
}

INSTANTIATE_TEST_SUITE_P(Models, ShardedAgainstMicroBatches, testing::ValuesIn(cases()),
                         name_of_case);

/// fp32, AdamW with a clipped norm and an average of the state: all that looks at every gradient.
Plan demanding_plan(int world) {
  Plan plan = test::compared_plan("mobilenet_v2", {world, 1});
  plan.spec.optimizer.kind = "adamw";
  plan.spec.optimizer.beta1 = 0.9;
  plan.spec.optimizer.beta2 = 0.99;
  plan.spec.optimizer.eps = 1e-6;
  plan.spec.optimizer.lr = 1e-3;
  plan.spec.optimizer.clip_norm = 0.05;
  plan.spec.optimizer.ema_decay = 0.99;
  return plan;
}

struct Learned {
  std::vector<at::Tensor> parameters;
  std::vector<NamedTensor> averages;
};

Learned learn(const Plan& plan, const TrainerOptions& options = test::float64()) {
  Learned learned;
  test::run_ranks(static_cast<int>(plan.ranks.size()), [&](comm::ProcessGroup& group) {
    test::Rank rank(plan, test::compared_model(plan.spec.model, group.world()), &group, options);
    rank.trainer().run();
    if (group.rank() != 0) {
      EXPECT_TRUE(rank.trainer().averages().empty());
      return;
    }
    learned = {test::outcome_of(rank.model()).parameters, rank.trainer().averages()};
  });
  return learned;
}

void expect_same(const Learned& got, const Learned& want) {
  test::expect_near(got.parameters, want.parameters, "parameter");
  ASSERT_EQ(got.averages.size(), want.averages.size());
  for (std::size_t i = 0; i < got.averages.size(); ++i) {
    EXPECT_EQ(got.averages[i].name, want.averages[i].name);
    test::expect_near({got.averages[i].tensor}, {want.averages[i].tensor}, "average");
  }
}

TEST(Sharded, ClipsAndAveragesAsDdp) {
  Plan plan = demanding_plan(3);
  const Learned want = learn(plan);
  ASSERT_FALSE(want.averages.empty());
  for (const int stage : {1, 2, 3}) {
    shard(plan, stage);
    expect_same(learn(plan), want);
  }
}

/// 16-bit weights are the rounded masters; ddp rounds the averaged gradients, too.
TEST(Sharded, ComputesIn16BitAsDdpDoes) {
  Plan plan = test::compared_plan("bert_base", {2, 1});
  plan.spec.precision = "bf16";
  plan.spec.optimizer.lr = 0.0;
  const std::vector<at::Tensor> start = learn(plan, {}).parameters;
  plan.spec.optimizer.lr = 0.05;
  const std::vector<at::Tensor> want = learn(plan, {}).parameters;
  for (const int stage : {1, 2, 3}) {
    shard(plan, stage);
    const std::vector<at::Tensor> got = learn(plan, {}).parameters;
    double way = 0, apart = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].scalar_type(), at::kFloat);
      way += (want[i] - start[i]).square().sum().item<double>();
      apart += (got[i] - want[i]).square().sum().item<double>();
    }
    EXPECT_GT(way, 0);
    EXPECT_LT(std::sqrt(apart), 0.005 * std::sqrt(way)) << stage;
  }
}

TEST(Sharded, ExchangesGradientsInAShorterType) {
  Plan plan = test::compared_plan("bert_base", {2, 1});
  const std::vector<at::Tensor> want = learn(plan).parameters;
  plan.spec.engine.gradient_dtype = "bf16";
  for (const int stage : {1, 2, 3}) {
    shard(plan, stage);
    const std::vector<at::Tensor> got = learn(plan).parameters;
    double error = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      error = std::max(error, (got[i] - want[i]).abs().max().item<double>());
    }
    EXPECT_GT(error, 1e-9) << "was it exchanged in a shorter type?";
    EXPECT_LT(error, 1e-4);
  }
}

/// Bytes by what they hold, against parameters x bytes / ranks.
TEST(Sharded, HoldsWhatItsStageSays) {
  for (const bool narrow : {false, true}) {
    for (const int stage : {1, 2, 3}) {
      Plan plan = test::compared_plan("resnet50", {2, 1});
      plan.spec.precision = narrow ? "bf16" : "fp32";
      shard(plan, stage);
      plan.spec.parallelism.sharded.unit_mb = 0.2;
      plan.warmup_steps = 0;
      plan.measured_steps = 1;
      test::run_ranks(2, [&](comm::ProcessGroup& group) {
        test::Rank rank(plan, test::compared_model("resnet50", 2), &group);
        rank.trainer().run();
        const WorkerRecords records = rank.records();
        const auto all = static_cast<double>(records.parameters);
        const MemoryRecord& held = records.memory;
        const auto near = [](double bytes, double want) { EXPECT_NEAR(bytes, want, 0.05 * want); };
        near(static_cast<double>(held.parameter_bytes),
             all * (narrow ? 2 : 4) / (stage == 3 ? 2 : 1));
        near(static_cast<double>(held.gradient_bytes), all * 4 / (stage == 1 ? 1 : 2));
        near(static_cast<double>(held.optimizer_bytes), all * 4 / 2);
        near(static_cast<double>(held.master_bytes), narrow ? all * 4 / 2 : 0);
        EXPECT_EQ(held.exchange_bytes > 0, stage > 1);
        EXPECT_LT(static_cast<double>(held.exchange_bytes), all * 4);
      });
    }
  }
}

class ShardedCheckpoint : public testing::Test {
 protected:
  ~ShardedCheckpoint() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_ = testing::TempDir() + "falcon_sharded_" + std::to_string(::getpid());
};

/// Stage 0 is ddp. After the second of four steps a checkpoint is written.
Plan checkpointed_plan(int stage, const std::string& file) {
  Plan plan = demanding_plan(2);
  if (stage > 0) shard(plan, stage);
  plan.warmup_steps = 0;
  plan.measured_steps = 4;
  plan.files.checkpoint = file;
  plan.checkpoint_steps = 2;
  return plan;
}

/// The same training on other ranks: they share the batch, so only the state is compared, not what
/// comes of it.
TEST_F(ShardedCheckpoint, IsTheSameFileForEveryStage) {
  Plan plan = checkpointed_plan(0, file("ddp"));
  plan.measured_steps = 2;
  learn(plan);
  const weights::SafetensorsFile want(file("ddp"));
  for (const int stage : {1, 2, 3}) {
    plan = checkpointed_plan(stage, file(std::to_string(stage)));
    plan.measured_steps = 2;
    learn(plan);
    const weights::SafetensorsFile got(file(std::to_string(stage)));
    ASSERT_EQ(got.tensors().size(), want.tensors().size());
    for (std::size_t i = 0; i < want.tensors().size(); ++i) {
      EXPECT_EQ(got.tensors()[i].name, want.tensors()[i].name);
      EXPECT_EQ(got.tensors()[i].shape, want.tensors()[i].shape);
      const at::Tensor tensor = models::read_tensor(got, i);
      EXPECT_TRUE(tensor.allclose(models::read_tensor(want, i), 1e-6, 1e-9))
          << want.tensors()[i].name;
    }
  }
}

TEST_F(ShardedCheckpoint, GoesOnInAnotherStage) {
  Plan plan = checkpointed_plan(0, file("ddp"));
  const TrainerOptions fp32;  // a file holds no more
  const Learned want = learn(plan, fp32);
  plan.measured_steps = 2;
  learn(plan, fp32);
  for (const int stage : {1, 2, 3, 0}) {
    Plan rest = checkpointed_plan(stage, "");
    rest.files.resume = plan.files.checkpoint;
    rest.checkpoint_steps.reset();
    rest.first_step = 2;
    rest.measured_steps = 2;
    const Learned got = learn(rest, fp32);
    for (std::size_t i = 0; i < got.parameters.size(); ++i) {
      EXPECT_TRUE(got.parameters[i].allclose(want.parameters[i], 1e-4, 1e-5)) << i;
    }
    for (std::size_t i = 0; i < got.averages.size(); ++i) {
      EXPECT_TRUE(got.averages[i].tensor.allclose(want.averages[i].tensor, 1e-4, 1e-5))
          << got.averages[i].name;
    }
  }
}

}  // namespace
}  // namespace falcon::train
