// What a good spec becomes: values, origins, names, paths, the hash.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codec.h"
#include "base/json.h"
#include "spec/hash.h"
#include "spec_files.h"

namespace falcon::spec {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

// Every field that a spec with files can have.
RunSpec full_spec() {
  RunSpec s;
  s.name = "all fields";
  s.model = "mobilenet_v2";
  s.model_options = {10, 0.25, {}, {}, {}};
  s.topology = {"", {"0000:18:00.0", "GPU-1234"}};
  s.devices = 2;
  s.system = "/etc/system.yaml";
  s.storage = "localNVMe";
  s.data.format = "imagefolder";
  s.data.path = "imagenet";
  s.data.train = "learn";
  s.data.make = MakeSpec{.train = 640, .val = 7, .classes = 5, .side = 100, .quality = 77};
  s.data.loader = {3, 5};
  s.precision = "bf16";
  s.parallelism.kind = "ddp";
  s.parallelism.ddp = {12.5, 0.1};
  s.batch_size.global = 64;
  s.budget.seconds = 1.0 / 3.0;
  s.warmup_steps = 0;
  s.image_size = 96;
  s.optimizer.kind = "sgd";
  s.optimizer.lr = 0.1;
  s.optimizer.momentum = 0.9;
  s.optimizer.weight_decay = 1e-4;
  s.optimizer.decay = "all";
  s.optimizer.nesterov = true;
  s.optimizer.clip_norm = 2.5;
  s.optimizer.ema_decay = 0.999;
  s.schedule.kind = "cosine";
  s.schedule.epochs = 90;
  s.schedule.warmup_epochs = 5;
  s.schedule.warmup_start = 0.01;
  s.schedule.end_lr = 1e-6;
  s.seed = 9007199254740993;  // 2^53 + 1: not a double
  s.engine = {"off", "fp32", "on", true, false, true, 12.25, "on"};
  s.trace.steps = 3;
  s.telemetry = {100, std::vector<std::string>{"cpu", "redfish"}, false, "raw.jsonl"};
  s.strict = true;
  s.timeout_s = 3600.5;
  s.output = "out.json";
  return s;
}

TEST(Load, SpecWrittenAsJsonLoadsToTheSameSpecAndHash) {
  const SpecFolder folder;
  RunSpec step = full_spec();
  step.schedule = ScheduleSpec();
  step.schedule.kind = "step";
  step.schedule.step_epochs = 30;
  step.schedule.gamma = 0.1;
  step.schedule.warmup_epochs = 0;
  step.schedule.warmup_start = 0.01;
  step.batch_size = {{}, 32};
  step.budget = {7, {}, {}};
  step.topology = {"falconGPUs", {}};
  RunSpec synthetic = step;
  synthetic.storage.clear();
  synthetic.data = DataSpec();
  synthetic.data.samples = 5000;
  synthetic.parallelism.kind = "none";
  synthetic.devices = 1;
  synthetic.budget = {{}, 12, {}};
  RunSpec tokens;
  tokens.name = "tokens";
  tokens.model = "bert_base";
  tokens.model_options = {{}, 0.2, 3, 96, 12};
  tokens.sequence_length = 64;
  tokens.optimizer.kind = "adamw";
  tokens.optimizer.beta1 = 0.8;
  tokens.optimizer.beta2 = 0.9;
  tokens.optimizer.eps = 1e-7;
  tokens.schedule.kind = "linear";
  tokens.schedule.steps = 100;
  tokens.schedule.warmup_steps = 10;
  for (const RunSpec& spec : {full_spec(), step, synthetic, tokens}) {
    const std::string text = base::to_json(base::to_value(spec), 2);
    const RunSpec again = load(folder.write("spec.json", text), {}).spec;
    EXPECT_EQ(base::to_value(again), base::to_value(spec)) << text;
    EXPECT_EQ(spec_hash(again), spec_hash(spec));
    // JSON is YAML, too
    EXPECT_EQ(base::to_value(load(folder.write("spec.yaml", text), {}).spec), base::to_value(spec));
  }
}

TEST(Load, HashIsOfTheWorkAndOfAllOfIt) {
  const RunSpec spec = full_spec();
  const std::string hash = spec_hash(spec);
  RunSpec renamed = spec;
  renamed.name = "x";
  renamed.output = "y";
  renamed.timeout_s.reset();
  renamed.telemetry = {};
  EXPECT_EQ(spec_hash(renamed), hash);
  const std::vector<std::function<void(RunSpec&)>> changes = {
      [](RunSpec& s) { s.seed += 1; },
      [](RunSpec& s) { s.parallelism.ddp.bucket_mb = 25; },
      [](RunSpec& s) { s.topology.items.pop_back(); },
      [](RunSpec& s) { s.data.make->side = 101; },
      [](RunSpec& s) { s.strict = false; },
      [](RunSpec& s) { s.optimizer.clip_norm.reset(); }};
  for (const auto& change : changes) {
    RunSpec other = spec;
    change(other);
    EXPECT_NE(spec_hash(other), hash);
  }
}

TEST(Load, CanonicalJsonHasSortedKeysAndNoSpaces) {
  RunSpec spec;
  spec.model = "resnet50";
  const std::string text = canonical_json(spec);
  EXPECT_EQ(text.find(' '), std::string::npos);
  EXPECT_TRUE(text.starts_with(
      "{\"accumulate\":1,\"checkpoint\":{\"path\":\"\",\"resume\":\"\"},\"data\":{\"format\":"))
      << text;
  EXPECT_EQ(text.find("\"telemetry\""), std::string::npos);
  EXPECT_LT(text.find("\"model\""), text.find("\"seed\""));
}

TEST(Load, EveryGivenValueHasAnOrigin) {
  const SpecFolder folder;
  const std::string path = folder.write(
      "run.yaml", "model: resnet50\nbatch_size:\n  per_gpu: 4\ntopology: [a, b]\nprecision:\n");
  const LoadedSpec loaded = load(path, {"seed=5", "data.samples=100"});
  EXPECT_THAT(
      loaded.spec_origin,
      UnorderedElementsAre(Pair("model", path + ":1"), Pair("batch_size.per_gpu", path + ":3"),
                           Pair("topology", path + ":4"), Pair("seed", "--set"),
                           Pair("data.samples", "--set"), Pair("name", "default: the spec file")));
  EXPECT_EQ(loaded.spec.name, "run");
  EXPECT_EQ(loaded.file, path);
  EXPECT_EQ(loaded.folder, std::filesystem::path(path).parent_path().string());
  EXPECT_FALSE(loaded.spec.precision.has_value()) << "null means: not given";
}

TEST(Load, WithoutAFileSettingsMustNameTheModel) {
  EXPECT_THAT(refusal("", {}),
              testing::StartsWith("--set: model: is required: resnet50, mobilenet_v2, "));
  const LoadedSpec loaded = load("", {"model=mobilenet_v2"});
  EXPECT_EQ(loaded.spec.name, "mobilenet_v2");
  EXPECT_EQ(loaded.folder, ".");
}

TEST(Load, PathsOfSettingsAreRelativeToTheWorkingDirectory) {
  const SpecFolder folder;
  const std::string path = folder.write(
      "run.yaml", "model: resnet50\nsystem: s.yaml\ndata: {format: imagefolder, path: pictures}\n");
  const LoadedSpec from_file = load(path, {});
  EXPECT_EQ(from_file.spec.data.path, "pictures");
  EXPECT_EQ(from_file.spec.system, "s.yaml");
  const LoadedSpec set = load(path, {"data.path=x/../pictures", "system=s.yaml"});
  EXPECT_EQ(set.spec.data.path, (std::filesystem::current_path() / "pictures").string());
  EXPECT_EQ(set.spec.system, (std::filesystem::current_path() / "s.yaml").string());
  const LoadedSpec stored = load(path, {"data.path=pictures", "storage=localNVMe"});
  EXPECT_EQ(stored.spec.data.path, "pictures") << "relative to the mount";
}

TEST(Load, JsonIsKnownByNameOrFirstCharacter) {
  const SpecFolder folder;
  const std::string json = "{\"model\": \"resnet50\"}";
  EXPECT_EQ(load(folder.write("a.json", json), {}).spec.model, "resnet50");
  EXPECT_EQ(load(folder.write("a.spec", "\xEF\xBB\xBF \n" + json), {}).spec.model, "resnet50");
  EXPECT_EQ(load(folder.write("a.yaml", "{model: resnet50}"), {}).spec.model, "resnet50");
  EXPECT_THAT(refusal(folder.write("b.json", "model: resnet50\n")),
              testing::StartsWith("b.json:1:1: invalid JSON"));
}

TEST(Load, EveryShippedSpecLoads) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("configs")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".yaml" || path.find("/systems/") != std::string::npos) {
      continue;
    }
    EXPECT_EQ(refusal(path), "");
    ++count;
  }
  EXPECT_GE(count, 4);
}

}  // namespace
}  // namespace falcon::spec
