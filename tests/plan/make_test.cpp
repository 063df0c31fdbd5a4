// Sizes and refusals of a plan.
#include "plan/make.h"

#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "made_host.h"
#include "plan/resume.h"

namespace falcon::plan {
namespace {

using testing::HasSubstr;

struct Request {
  RunSpec spec;
  Host host = made_host(4);
  DataFacts data{1000, 10, 0, "", {}, {}, ""};

  explicit Request(const std::string& topology) {
    spec.name = "test";
    spec.model = "resnet50";
    spec.topology.name = topology;
    spec.batch_size.per_gpu = 8;
  }
  Plan plan() const {
    const Placement placement = place(spec.topology, spec.devices, host, {});
    return make(
        resolve(spec, {}, "/specs", static_cast<int>(placement.devices.size()), placement.on_gpu()),
        placement, host, data, "id");
  }
  std::string refusal(ExitCode code) const {
    try {
      plan();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    ADD_FAILURE() << "was accepted";
    return {};
  }
};

TEST(Make, SizesBatchesAndSteps) {
  Request request("all");
  request.spec.budget.epochs = 2;
  const Plan plan = request.plan();
  EXPECT_EQ(plan.global_batch, 32);
  EXPECT_EQ(plan.steps_per_epoch, 31);
  EXPECT_EQ(plan.dropped_per_epoch, 8);
  EXPECT_EQ(*plan.measured_steps, 62);
  EXPECT_EQ(plan.backend, "nccl");
  EXPECT_EQ(*plan.spec.model_options.classes, 10);
  EXPECT_EQ(plan.spec_hash.size(), 64u);
}

TEST(Make, AGlobalBatchIsDivided) {
  Request request("all");
  request.spec.batch_size = {};
  request.spec.batch_size.global = 64;
  EXPECT_EQ(request.plan().batch_per_rank, 16);
  request.spec.batch_size.global = 63;
  EXPECT_THAT(request.refusal(ExitCode::kUsage),
              HasSubstr("cannot be divided among 4 devices; the nearest that can: 60"));
}

TEST(Make, RefusesImpossiblePairsAllAtOnce) {
  Request request("cpu");
  request.spec.precision = "fp16";
  request.spec.parallelism.kind = "none";
  request.spec.engine.memory_limit_gb = 4;
  const std::string text = request.refusal(ExitCode::kUsage);
  EXPECT_THAT(text, HasSubstr("precision: fp16 needs a GPU"));
  EXPECT_THAT(text, HasSubstr("parallelism: none works on one device"));
  EXPECT_THAT(text, HasSubstr("engine.memory_limit_gb"));
}

TEST(Make, RefusesABatchLargerThanTheData) {
  Request request("all");
  request.data.samples = 31;
  EXPECT_THAT(request.refusal(ExitCode::kUsage),
              HasSubstr("larger than the data set of 31 samples"));
}

TEST(Make, RefusesFewerClassesThanTheDataHas) {
  Request request("all");
  request.spec.model_options.classes = 4;
  EXPECT_THAT(request.refusal(ExitCode::kUsage), HasSubstr("fewer than the 10 classes"));
}

TEST(Make, RefusesAPrecisionThatTheGpuLacks) {
  Request request("all");
  request.spec.precision = "bf16";
  request.host.gpus[1].compute_capability = std::string("7.0");
  EXPECT_THAT(request.refusal(ExitCode::kHost), HasSubstr("0000:11:00.0 has 7.0"));
}

TEST(Make, AGpuHeldByAnotherProcessIsAFinding) {
  Request request("all");
  request.host.gpus[2].processes.push_back({4711, "other", std::int64_t{1} << 30});
  const Plan plan = request.plan();
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].id, "gpu_in_use");
  EXPECT_THAT(plan.findings[0].evidence, HasSubstr("4711 (other)"));
}

TEST(Make, TheHashNamesTheWorkAndNothingElse) {
  Request request("all");
  const std::string hash = request.plan().spec_hash;
  request.spec.output = "elsewhere.json";
  request.spec.name = "another";
  request.spec.telemetry.interval_ms = 50;
  EXPECT_EQ(request.plan().spec_hash, hash);
  request.spec.seed = 1;
  EXPECT_NE(request.plan().spec_hash, hash);
}

TEST(Make, TheResolvedSpecMakesTheSamePlan) {
  Request request("all");
  const Plan first = request.plan();
  request.spec = first.spec;
  const Plan second = request.plan();
  EXPECT_EQ(second.spec_hash, first.spec_hash);
  EXPECT_EQ(second.global_batch, first.global_batch);
}

TEST(Make, MemoryGrowsWithTheBatchAndShrinksInSixteenBit) {
  Request request("all");
  const MemoryEstimate half = request.plan().memory;
  request.spec.batch_size.per_gpu = 16;
  EXPECT_EQ(request.plan().memory.activations_bytes, 2 * half.activations_bytes);
  request.spec.precision = "fp32";
  EXPECT_EQ(request.plan().memory.activations_bytes, 4 * half.activations_bytes);
}

TEST(Make, MemoryOfATransformerFollowsItsSize) {
  Request request("all");
  request.spec.model = "bert_large";
  request.spec.image_size.reset();
  request.spec.model_options.classes.reset();
  request.spec.optimizer = catalog::find_model("bert_large")->optimizer;
  request.spec.batch_size.per_gpu = 6;
  const MemoryEstimate large = request.plan().memory;
  EXPECT_EQ(large.weights_bytes, 334094338LL * 2);
  EXPECT_EQ(large.gradients_bytes, large.weights_bytes);
  EXPECT_EQ(large.optimizer_bytes, 3 * 334094338LL * 4) << "two moments and the masters";
  EXPECT_LT(large.total_bytes, 16000000000LL);
  request.spec.model_options.layers = 12;
  const MemoryEstimate half = request.plan().memory;
  EXPECT_EQ(half.activations_bytes, large.activations_bytes / 2);
  EXPECT_LT(half.weights_bytes, large.weights_bytes * 0.6);
}

TEST(Make, MemoryCountsTheParametersOfTheClassesThatAreTrained) {
  Request request("all");  // of resnet50: 2048 features and a bias to each class
  request.spec.model_options.classes = 1000;
  const MemoryEstimate thousand = request.plan().memory;
  request.spec.model_options.classes = 1500;
  EXPECT_EQ(request.plan().memory.gradients_bytes - thousand.gradients_bytes, 500 * 2049 * 2);
}

TEST(NewRunId, IsUnique) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(new_run_id());
  EXPECT_EQ(ids.size(), 100u);
}

TEST(Make, CheckpointsComeByEpochOrBySteps) {
  Request request("all");
  EXPECT_FALSE(request.plan().checkpoint_steps.has_value());
  request.spec.checkpoint.path = "/kept";
  request.spec.budget.steps = 100;
  EXPECT_EQ(*request.plan().checkpoint_steps, 31) << "the steps of an epoch";
  request.spec.checkpoint.every = WordOrCount{"", 100};
  EXPECT_EQ(*request.plan().checkpoint_steps, 100);
  request.spec.checkpoint.every = WordOrCount{"", 101};
  EXPECT_THAT(request.refusal(ExitCode::kUsage), HasSubstr("only 100 are measured"));
  request.spec.checkpoint.every = WordOrCount{"epoch", 0};
  request.spec.budget.steps = 30;
  EXPECT_THAT(request.refusal(ExitCode::kUsage), HasSubstr("an epoch has 31 steps"));
  request.spec.budget = {};
  request.spec.budget.seconds = 1;
  EXPECT_EQ(*request.plan().checkpoint_steps, 31) << "nobody knows how many steps there will be";
}

TEST(ResumeFrom, ContinuesTheSameTrainingOnly) {
  Request request("all");
  Plan plan = request.plan();
  plan.files.resume = "/kept/checkpoint.safetensors";
  weights::CheckpointFacts facts{"resnet50", "sgd", 0, 1000, 32, 77, 75};
  resume_from(facts, plan);
  EXPECT_EQ(plan.first_step, 77);
  facts.seed = 1;
  facts.global_batch = 64;
  facts.optimizer = "adamw";
  try {
    resume_from(facts, plan);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 3u);
    EXPECT_THAT(error.what(), HasSubstr("checkpoint.safetensors"));
    EXPECT_THAT(error.what(), HasSubstr("batch_size: the checkpoint is of 64, the run has 32"));
    EXPECT_THAT(error.what(), HasSubstr("optimizer.kind: the checkpoint is of adamw"));
  }
}

}  // namespace
}  // namespace falcon::plan
