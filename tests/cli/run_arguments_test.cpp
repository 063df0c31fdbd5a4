#include "cli/run_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace falcon::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal(const Words& words) {
  try {
    parse_run_arguments(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "accepted";
}

TEST(RunArguments, FlagsAreSettingsInTheOrderGiven) {
  const RunArguments arguments =
      parse_run_arguments({"--config", "a b.yaml", "--warmup-steps", "5", "--set", "seed=1",
                           "--seed=2", "--output", "x.json", "--set=budget.steps=7"});
  EXPECT_EQ(arguments.config, "a b.yaml");
  EXPECT_THAT(arguments.settings,
              ElementsAre("warmup_steps=5", "seed=1", "seed=2", "output=x.json", "budget.steps=7"));
  EXPECT_FALSE(arguments.dry_run || arguments.json || arguments.quiet || arguments.verbose);
}

TEST(RunArguments, ASettingIsTakenWhole) {
  const std::string value = "data={format: imagefolder, make: {train: 4, val: 2}, path: 'a,b'}";
  EXPECT_THAT(parse_run_arguments({"--set", value}).settings, ElementsAre(value));
  EXPECT_THAT(parse_run_arguments({"--topology", "[\"0000:18:00.0\",\"0000:3b:00.0\"]"}).settings,
              ElementsAre("topology=[\"0000:18:00.0\",\"0000:3b:00.0\"]"));
  EXPECT_THAT(parse_run_arguments({"--set", "name=a=b"}).settings, ElementsAre("name=a=b"));
}

TEST(RunArguments, SwitchesStandAlone) {
  const RunArguments arguments =
      parse_run_arguments({"--dry-run", "--json", "--quiet", "--verbose", "--help"});
  EXPECT_TRUE(arguments.dry_run && arguments.json && arguments.quiet && arguments.verbose &&
              arguments.help);
  EXPECT_THAT(arguments.settings, IsEmpty());
  EXPECT_THAT(arguments.config, IsEmpty());
}

TEST(RunArguments, AnotherMachineIsForPlansAlone) {
  EXPECT_EQ(parse_run_arguments({"--dry-run", "--host", "there"}).host, "there");
  EXPECT_THAT(refusal({"--host", "there"}), HasSubstr("it goes with --dry-run"));
  EXPECT_THAT(refusal({"--dry-run", "--host", "a", "--host", "b"}), HasSubstr("given twice"));
}

TEST(RunArguments, EveryPlainTopLevelKeyHasAFlag) {
  for (const std::string flag :
       {"name", "model", "topology", "devices", "system", "storage", "precision", "parallelism",
        "warmup-steps", "image-size", "seed", "strict", "timeout-s", "output"}) {
    EXPECT_EQ(parse_run_arguments({"--" + flag, "1"}).settings.size(), 1u) << flag;
  }
}

TEST(RunArguments, UnknownFlagsNameTheNearest) {
  EXPECT_THAT(refusal({"--outputt", "x"}), HasSubstr("did you mean --output?"));
  EXPECT_THAT(refusal({"--dryrun"}), HasSubstr("did you mean --dry-run?"));
  EXPECT_THAT(refusal({"--batch-size", "4"}), HasSubstr("unknown flag --batch-size"));
  EXPECT_THAT(refusal({"-x"}), HasSubstr("-x"));
}

TEST(RunArguments, WordsThatAreNoFlagsAreRefused) {
  EXPECT_THAT(refusal({"spec.yaml"}), HasSubstr("--config FILE"));
  EXPECT_THAT(refusal({"--config", "a.yaml", "b.yaml"}), HasSubstr("b.yaml"));
  EXPECT_THAT(refusal({"--config", "a.yaml", "--config", "b.yaml"}), HasSubstr("given twice"));
  EXPECT_THAT(refusal({"--config"}), HasSubstr("config"));
  EXPECT_THAT(refusal({"--set"}), HasSubstr("set"));
}

}  // namespace
}  // namespace falcon::cli
