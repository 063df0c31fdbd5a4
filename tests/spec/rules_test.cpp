// Rules between keys: each names the keys on both sides, and its counterpart passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec_files.h"

namespace falcon::spec {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Pair {
  const char* name;
  std::vector<std::string> bad;
  std::vector<std::string> words;  // all in the one message
  std::vector<std::string> good;
};

class PairRules : public testing::TestWithParam<Pair> {};

TEST_P(PairRules, RefusesTheContradictionOnly) {
  const Pair& pair = GetParam();
  std::vector<std::string> bad = {"model=resnet50"};
  bad.insert(bad.end(), pair.bad.begin(), pair.bad.end());
  const std::string text = refusal("", bad);
  for (const std::string& word : pair.words) EXPECT_THAT(text, HasSubstr(word));
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  std::vector<std::string> good = {"model=resnet50"};
  good.insert(good.end(), pair.good.begin(), pair.good.end());
  EXPECT_EQ(refusal("", good), "");
}

const std::string kFolder = "data={format: imagefolder, path: /p}";

INSTANTIATE_TEST_SUITE_P(
    Spec, PairRules,
    testing::Values(
        Pair{"PathOfSynthetic", {"data.path=x"}, {"data.path", "data.format"}, {kFolder}},
        Pair{"PathMissing", {"data.format=imagefolder"}, {"data.path", "imagefolder"}, {kFolder}},
        Pair{"MakeOfSynthetic",
             {"data.make={train: 9}"},
             {"data.make", "data.format"},
             {kFolder, "data.make={train: 200}"}},
        Pair{"MakeWithoutCount",
             {kFolder, "data.make={}"},
             {"data.make.train", "required"},
             {kFolder}},
        Pair{"FewerMadeThanClasses",
             {kFolder, "data.make={train: 3, classes: 4}"},
             {"data.make.train", "data.make.classes"},
             {kFolder, "data.make={train: 4, classes: 4}"}},
        Pair{"StorageOfSynthetic",
             {"storage=localNVMe"},
             {"storage", "data.format"},
             {"storage=localNVMe", kFolder}},
        Pair{"SubfolderOfSynthetic",
             {"data.train=learn"},
             {"data.train", "data.format"},
             {kFolder, "data.train=learn"}},
        Pair{"SamplesOfFiles",
             {kFolder, "data.samples=100"},
             {"data.samples", "data.format"},
             {"data.samples=100"}},
        Pair{"ImageSize", {"image_size=65"}, {"image_size", "32", "64 or 96"}, {"image_size=64"}},
        Pair{"PicturesOfATokenModel",
             {"model=bert_base", "image_size=64"},
             {"image_size", "bert_base", "tokens"},
             {"model=bert_base", "sequence_length=64"}},
        Pair{"TokensOfAnImageModel",
             {"sequence_length=64"},
             {"sequence_length", "resnet50", "pictures"},
             {"model=bert_large", "sequence_length=64"}},
        Pair{"MemoryFormatOfATokenModel",
             {"model=bert_base", "engine.channels_last=false"},
             {"engine.channels_last", "bert_base"},
             {"engine.channels_last=false"}},
        Pair{"ConvolutionsOfATokenModel",
             {"model=bert_base", "engine.cudnn_benchmark=true"},
             {"engine.cudnn_benchmark", "bert_base"},
             {"engine.cudnn_benchmark=true"}},
        Pair{"HeadsDoNotDivide",
             {"model=bert_base", "model_options={hidden_size: 100}"},
             {"model_options.hidden_size (100)", "model_options.heads (12)"},
             {"model=bert_base", "model_options={hidden_size: 96}"}},
        Pair{"ClassesOfATokenModel",
             {"model=bert_base", "model_options.classes=3"},
             {"model_options.classes", "bert_base"},
             {"model_options.classes=3"}},
        Pair{"LayersOfAnImageModel",
             {"model_options.layers=3"},
             {"model_options.layers", "resnet50"},
             {"model=bert_base", "model_options.layers=3"}},
        Pair{"OptionOfOtherModel",
             {"model_options.dropout=0.1"},
             {"model_options.dropout", "resnet50"},
             {"model=mobilenet_v2", "model_options.dropout=0.1"}},
        Pair{"FewerClassesThanMade",
             {kFolder, "data.make={train: 100, classes: 9}", "model_options.classes=8"},
             {"model_options.classes", "data.make.classes"},
             {kFolder, "data.make={train: 100, classes: 9}", "model_options.classes=9"}},
        Pair{"ScheduleFieldOfOtherKind",
             {"schedule={kind: cosine, gamma: 0.1}"},
             {"schedule.gamma", "schedule.kind is cosine"},
             {"schedule={kind: step, gamma: 0.1}"}},
        Pair{"ScheduleFieldOfOtherDefault",
             {"schedule.end_lr=0.1"},
             {"schedule.end_lr", "schedule.kind defaults to step"},
             {"schedule={kind: cosine, end_lr: 0.1}"}},
        Pair{"WarmupStartAlone",
             {"schedule.warmup_start=0.1"},
             {"schedule.warmup_start", "schedule.warmup_epochs"},
             {"schedule={warmup_start: 0.1, warmup_epochs: 5}"}},
        Pair{"WarmupStepsOfAScheduleByEpoch",
             {"schedule.warmup_steps=10"},
             {"schedule.warmup_steps", "schedule.kind defaults to step"},
             {"schedule={kind: linear, warmup_steps: 10}"}},
        Pair{"TwoLengthsOfASchedule",
             {"schedule={kind: linear, steps: 10, epochs: 2}"},
             {"schedule.steps", "schedule.epochs"},
             {"schedule={kind: linear, steps: 10}"}},
        Pair{"TwoLengthsOfAWarmUp",
             {"schedule={kind: linear, warmup_steps: 10, warmup_ratio: 0.1}"},
             {"schedule.warmup_steps", "schedule.warmup_ratio"},
             {"schedule={kind: linear, warmup_ratio: 0.1}"}},
        Pair{"WarmupLongerThanTheSchedule",
             {"schedule={kind: cosine_by_step, warmup_steps: 11, steps: 10}"},
             {"schedule.warmup_steps", "schedule.steps (10)"},
             {"schedule={kind: cosine_by_step, warmup_steps: 10, steps: 10}"}},
        Pair{"OptimizerFieldOfOtherKind",
             {"optimizer={kind: adamw, momentum: 0.8}"},
             {"optimizer.momentum", "optimizer.kind is adamw"},
             {"optimizer={kind: adamw, beta1: 0.8}"}},
        Pair{"OptimizerFieldOfOtherDefault",
             {"optimizer.beta2=0.99"},
             {"optimizer.beta2", "optimizer.kind defaults to sgd"},
             {"optimizer={kind: adamw, beta2: 0.99}"}},
        Pair{"NesterovWithoutMomentum",
             {"optimizer={nesterov: true, momentum: 0}"},
             {"optimizer.nesterov", "optimizer.momentum"},
             {"optimizer={nesterov: true}"}},
        Pair{"TimedAlgorithmsThatMustNotVary",
             {"engine={deterministic: true, cudnn_benchmark: true}"},
             {"engine.cudnn_benchmark", "engine.deterministic"},
             {"engine={deterministic: true}"}},
        Pair{"NoneOfMany",
             {"parallelism=none", "devices=2"},
             {"parallelism", "devices"},
             {"parallelism=none", "devices=1"}},
        Pair{"NoneOfAList",
             {"parallelism=none", "topology=[a, b]"},
             {"parallelism", "topology"},
             {"parallelism=none", "topology=[a]"}},
        Pair{"OptionsOfNone",
             {"parallelism={none: {bucket_mb: 1}}"},
             {"parallelism.none", "no options"},
             {"parallelism={none: {}}"}},
        Pair{"PrecisionOnCpu",
             {"topology=cpu", "precision=fp16"},
             {"precision", "topology is cpu", "fp32 or bf16"},
             {"topology=cpu", "precision=bf16"}},
        Pair{"FusedOnCpu",
             {"topology=cpu", "engine.fused=on"},
             {"engine.fused", "topology"},
             {"topology=cpu", "engine.fused=auto"}},
        Pair{"MemoryLimitOnCpu",
             {"topology=cpu", "engine.memory_limit_gb=1"},
             {"engine.memory_limit_gb", "topology"},
             {"topology=all", "engine.memory_limit_gb=1"}},
        Pair{"GlobalDoesNotDivide",
             {"devices=3", "batch_size.global=64"},
             {"batch_size.global", "devices (3)"},
             {"devices=4", "batch_size.global=64"}},
        Pair{"GlobalAboveData",
             {"data.samples=63", "batch_size.global=64"},
             {"batch_size.global", "data.samples"},
             {"data.samples=64", "batch_size.global=64"}},
        Pair{"BatchAboveMadeData",
             {kFolder, "data.make={train: 63}", "devices=2", "batch_size.per_gpu=32"},
             {"batch_size.per_gpu", "data.make.train"},
             {kFolder, "data.make={train: 64}", "devices=2", "batch_size.per_gpu=32"}},
        Pair{"DeadlineInsideTheBudget",
             {"timeout_s=60", "budget.seconds=60"},
             {"timeout_s", "budget.seconds"},
             {"timeout_s=90", "budget.seconds=60"}},
        Pair{"NameOfAFile", {"name=a/b"}, {"name", "file names"}, {"name=a b"}}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace falcon::spec
