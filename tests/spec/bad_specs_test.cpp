// Specs as people get them wrong: what is said, and where.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codec.h"
#include "base/text.h"
#include "spec_files.h"

namespace falcon::spec {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct BadSpec {
  const char* file;
  const char* message;
};

class BadSpecs : public testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecs, SaysWhereAndWhat) {
  const std::string text = refusal("tests/data/specs/" + std::string(GetParam().file));
  EXPECT_THAT(text, StartsWith(std::string(GetParam().file) + ":" + GetParam().message));
  EXPECT_EQ(text.find('\n'), std::string::npos) << "one mistake, one message: " << text;
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadSpecs,
    testing::Values(
        BadSpec{"a_directory", " is a directory, expected a file"},
        BadSpec{"alias_bomb.yaml", "1:4: the anchor &a: anchors and aliases are not supported"},
        BadSpec{"alias_fine.yaml", "1:11: the anchor &d: anchors and aliases are not supported"},
        BadSpec{"alias_unknown.yaml", "2:9: an alias (*): anchors and aliases are not supported"},
        BadSpec{"bad_pair.yaml", "8:13: image_size: must be divisible by 32, got 100"},
        BadSpec{"bare_number.yaml",
                "6:13: batch_size: expected a map with one of the keys global, per_gpu, got the "
                "whole number 64; write {global: 64} or {per_gpu: 64}"},
        BadSpec{"batch_above_data.yaml",
                "6:23: batch_size.per_gpu: one step takes 2000000 samples, but data.samples is "
                "4096"},
        BadSpec{"case.yaml",
                "4:12: precision: unknown value \"FP32\", did you mean fp32? Accepted: fp32, "},
        BadSpec{"comment_only.yaml", "1:1: expected a map of keys"},
        BadSpec{"comments.json", "2:2: a comment, which JSON does not have"},
        BadSpec{"control_in_model.yaml", "1:8: model: unknown value \"resnet\\x1b[31m50\""},
        BadSpec{"control_in_value.yaml", "9:7: name: becomes a part of file names"},
        BadSpec{"cut.json", "1:44: ends in the middle of a value"},
        BadSpec{"duplicate_key.json", "1:31: key \"seed\" is given twice, first in line 1"},
        BadSpec{"duplicate_key.yaml", "8:1: key \"batch_size\" is given twice, first in line 6"},
        BadSpec{"empty.yaml", "1:1: expected a map of keys (model: resnet50), got an empty"},
        BadSpec{"end_of_input_byte.yaml", "3:1: the control character \\x04"},
        BadSpec{"fraction.yaml", "7:17: budget.steps: expected a whole number, got 10.5"},
        BadSpec{"hex.yaml", "6:23: batch_size.per_gpu: expected a whole number, got \"0x40\""},
        BadSpec{"infinite.yaml", "8:17: optimizer.lr: expected a finite number, got \".inf\""},
        BadSpec{"latin1.yaml", "8:10: invalid UTF-8 (byte 0xe9), expected UTF-8 text"},
        BadSpec{"list.yaml", "1:1: expected a map of keys (model: resnet50), got a list"},
        BadSpec{"nan.yaml", "7:17: budget.steps: expected a whole number, got \".nan\""},
        BadSpec{"negative_batch.yaml",
                "6:23: batch_size.per_gpu: must be from 1 to 1048576, got -4"},
        BadSpec{"nul_byte.yaml", "1:16: holds a NUL byte"},
        BadSpec{"null.yaml", "2:1: expected a map of keys (model: resnet50), got an empty"},
        BadSpec{"number_as_text.json",
                "1:45: batch_size.per_gpu: expected a whole number, got \"64\""},
        BadSpec{"octal.yaml",
                "6:23: batch_size.per_gpu: expected a whole number, got \"0100\" (a leading 0"},
        BadSpec{"overflow.json", "2:9: the whole number 9223372036854775808 does not fit 64 bits"},
        BadSpec{"overflow.yaml",
                "7:17: budget.steps: expected a whole number, got \"99999999999999999999\" (does "
                "not fit 64 bits)"},
        BadSpec{"python_tag.yaml",
                "1:8: the tag tag:yaml.org,2002:python/object/apply:os.system: tags are not"},
        BadSpec{"scalar.yaml", "1:1: expected a map of keys (model: resnet50), got text"},
        BadSpec{"sexagesimal.yaml",
                "7:17: budget.steps: expected a whole number, got \"1:30\" (some read this"},
        BadSpec{"tabs.yaml", "3:1: a tab as indentation, expected spaces"},
        BadSpec{"text_after.json", "1:22: more text behind the document"},
        BadSpec{"too_large.json", "1:39: a number beyond the range of a double"},
        BadSpec{"too_large.yaml", "8:17: optimizer.lr: expected a finite number, got \"1e400\""},
        BadSpec{"trailing_comma.json", "1:29: a trailing comma, which JSON does not have"},
        BadSpec{"two_documents.yaml", "8:1: a second document, expected one"},
        BadSpec{"typo.yaml", "6:1: batchsize: unknown key, did you mean batch_size?"},
        BadSpec{"underscore.yaml",
                "7:17: budget.steps: expected a whole number, got \"1_000\" (write it without _)"},
        BadSpec{"unknown_model.yaml",
                "1:8: model: unknown value \"resnet5O\", did you mean resnet50? Accepted: "
                "resnet50, mobilenet_v2"},
        BadSpec{"utf16.json", "1:1: is UTF-16 or UTF-32 text, expected UTF-8"},
        BadSpec{"utf16.yaml", "1:1: is UTF-16 or UTF-32 text, expected UTF-8"},
        BadSpec{"utf8_value.yaml", "4:12: precision: unknown value \"zw\xC3\xB6lf-\xE6\x8A\x98"},
        BadSpec{"wrong_type.yaml", "6:13: batch_size: expected a map with one of the keys"},
        BadSpec{"zero_batch.yaml", "6:23: batch_size.per_gpu: must be from 1 to 1048576, got 0"},
        BadSpec{"zero_gpus.yaml", "8:10: devices: must be from 1 to 4096, got 0"}),
    [](const auto& param_info) {
      std::string name = param_info.param.file;
      for (char& c : name) c = c == '.' ? '_' : c;
      return name;
    });

TEST(GoodSpecs, ByteOrderMarkLineEndsAndJsonMeanTheSame) {
  const RunSpec spec = load("tests/data/specs/ok.yaml", {}).spec;
  EXPECT_EQ(spec.model, "resnet50");
  EXPECT_EQ(spec.batch_size.per_gpu, 64);
  EXPECT_EQ(spec.data.samples, 4096);
  for (const char* name : {"ok.json", "bom.yaml", "crlf.yaml"}) {
    RunSpec same = load("tests/data/specs/" + std::string(name), {}).spec;
    same.name = spec.name;
    EXPECT_EQ(base::to_value(same), base::to_value(spec)) << name;
  }
}

TEST(BadSpec, AllFaultsAreToldAtOnceInTheOrderOfTheFile) {
  const std::string text = refusal("tests/data/specs/many_faults.yaml", {"precision=fp99"});
  const std::vector<std::string> lines = base::split(text, '\n');
  const std::vector<std::string> expected = {
      "1:1: model: is required: resnet50, mobilenet_v2, ",
      "1:1: modell: unknown key, did you mean model?",
      "3:3: data: data.path is required: data.format is imagefolder",
      "4:12: data.samples: has no effect: data.format is imagefolder",
      "5:21: data.loader.threads: must be from 1 to 1024, got 0",
      "5:24: data.loader.prefetchh: unknown key, did you mean prefetch?",
      "6:13: batch_size: expects exactly one of global or per_gpu",
      "7:9: budget: expects exactly one of epochs, steps or seconds",
      "8:15: warmup_steps: must be from 0 to 1000000, got -1",
      "9:7: seed: expected a whole number, got \"7\"",
      "10:9: engine: expected a map with the keys graphs, gradient_dtype, ",
      "11:29: telemetry.samplers[1]: unknown value \"gpu\", did you mean cpu?",
      "11:34: telemetry.samplers[2]: expected text (in quotes), got the whole number 3"};
  ASSERT_EQ(lines.size(), expected.size() + 1) << text;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_THAT(lines[i], StartsWith("many_faults.yaml:" + expected[i]));
  }
  EXPECT_THAT(lines.back(), StartsWith("--set: precision: unknown value \"fp99\""));
}

TEST(BadSpec, WordsThatOldYamlReadsAsTruthValuesStayWords) {
  const std::string text = refusal("tests/data/specs/no_as_value.yaml");
  EXPECT_THAT(
      text, HasSubstr("5:14: parallelism: unknown value \"no\"; accepted: none, dp, ddp, sharded"));
  EXPECT_THAT(text, HasSubstr("8:9: strict: expected true or false, got \"yes\" (some read this "
                              "as true; write true)"));
}

TEST(BadSpec, LongValueIsNotPrintedWhole) {
  const SpecFolder folder;
  const std::string model(100000, 'r');
  const std::string text = refusal(folder.write("long.yaml", "model: " + model + "\n"));
  EXPECT_THAT(text, StartsWith("long.yaml:1:8: model: unknown value \"rrr"));
  EXPECT_THAT(text, HasSubstr("(100000 bytes)"));
  EXPECT_LT(text.size(), 400u);
}

TEST(BadSpec, NestingHasALimitAndNeedsNoStack) {
  const SpecFolder folder;
  const std::string json = "{\"model\":" + std::string(100000, '[');
  EXPECT_THAT(refusal(folder.write("deep.json", json)),
              StartsWith("deep.json:1:109: more than 100 levels"));
  const std::string yaml = "model: " + std::string(10000, '[') + std::string(10000, ']') + "\n";
  EXPECT_THAT(refusal(folder.write("deep.yaml", yaml)),
              StartsWith("deep.yaml:1:107: more than 100 levels"));
}

TEST(BadSpec, MissingFileIsNamed) {
  EXPECT_EQ(refusal("tests/data/specs/none.yaml"), "none.yaml: no such file");
}

// Every beginning of a file is itself a file that someone saved too early.
TEST(BadSpec, EveryBeginningOfASpecIsReadOrRefused) {
  const SpecFolder folder;
  const std::string yaml =
      "model: \"resnet50\"\ntopology: [0000:18:00.0, 'GPU-1']\ndata: {samples: 100}\n"
      "batch_size:\n  per_gpu: 4\noptimizer: {lr: 1e-1, nesterov: true}\nname: >-\n  a\n  b\n";
  const std::string json =
      "{\"model\": \"resnet50\", \"topology\": [\"0000:18:00.0\"], \"data\": {\"samples\": 100},"
      "\n \"name\": \"\\u00e9\\ud83d\\ude00\", \"strict\": false, \"optimizer\": {\"lr\": 1e-1}}";
  int num_read = 0;
  for (const auto& [name, text] : {std::pair("cut.yaml", yaml), std::pair("cut.json", json)}) {
    for (std::size_t length = 0; length <= text.size(); ++length) {
      const std::string fault = refusal(folder.write(name, text.substr(0, length)));
      EXPECT_TRUE(fault.empty() || fault.starts_with(name)) << length << ": " << fault;
      num_read += fault.empty() ? 1 : 0;
    }
    EXPECT_EQ(refusal(folder.write(name, text)), "");
  }
  EXPECT_GT(num_read, 10);
}

}  // namespace
}  // namespace falcon::spec
