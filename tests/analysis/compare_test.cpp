#include "analysis/compare.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "made_facts.h"

namespace falcon::analysis {
namespace {

using testing::HasSubstr;

std::vector<RunFacts> joined(std::vector<RunFacts> a, const std::vector<RunFacts>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string refusal(const std::vector<RunFacts>& base, const std::vector<RunFacts>& others,
                    const CompareOptions& options = {}) {
  try {
    compare(base, others, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "";
}

TEST(Compare, TheFirstAndItsRepeatsAreTheBase) {
  const CompareResult result = compare({},
                                       joined(made_repeats("l", "localGPUs", {100, 102, 98}),
                                              made_repeats("f", "falconGPUs", {50, 51, 49})),
                                       {});
  ASSERT_EQ(result.comparisons.size(), 1u);
  const Comparison& comparison = result.comparisons.front();
  EXPECT_EQ(comparison.base.name, "localGPUs");
  EXPECT_EQ(comparison.base.runs, 3);
  EXPECT_EQ(comparison.other.name, "falconGPUs");
  EXPECT_EQ(comparison.other.runs, 3);
  EXPECT_NEAR(*comparison.time_ratio, 2, 0.01);
  EXPECT_NEAR(*comparison.time_change_pct, 100, 1);
  EXPECT_LT(*comparison.time_ratio_low, *comparison.time_ratio);
  EXPECT_GT(*comparison.time_ratio_high, *comparison.time_ratio);
  ASSERT_EQ(comparison.differences.size(), 1u);
  EXPECT_EQ(comparison.differences[0].key, "topology");
  EXPECT_FALSE(comparison.differences[0].is_work);
  EXPECT_EQ(result.verdict, "not gated");
}

TEST(Compare, TwoReportsOfTheSameSpecAreComparedNotPooled) {
  const CompareResult result =
      compare({}, {made_facts("old", "all", 100), made_facts("new", "all", 80)}, {.gate = 0.05});
  ASSERT_EQ(result.comparisons.size(), 1u);
  EXPECT_EQ(result.comparisons[0].base.files, std::vector<std::string>{"old.json"});
  EXPECT_TRUE(result.comparisons[0].differences.empty());
  EXPECT_EQ(result.verdict, "regression");
}

TEST(Compare, NamedBasesMatchBySettings) {
  const auto base = joined(made_repeats("bl", "localGPUs", {100, 101, 99, 100, 100}),
                           made_repeats("bf", "falconGPUs", {50, 51, 49, 50, 50}));
  const auto today = joined(made_repeats("tf", "falconGPUs", {40, 41, 39, 40, 40}),
                            made_repeats("tl", "localGPUs", {100, 101, 99, 100, 100}));
  const CompareResult result = compare(base, today, {.gate = 0.05});
  ASSERT_EQ(result.comparisons.size(), 2u);
  EXPECT_EQ(result.comparisons[0].base.name, "falconGPUs");
  EXPECT_EQ(result.comparisons[0].speed.value->verdict, "regression");
  EXPECT_EQ(result.comparisons[1].base.name, "localGPUs");
  EXPECT_EQ(result.comparisons[1].speed.value->verdict, "ok");
  EXPECT_EQ(result.verdict, "regression");
}

TEST(Compare, DifferentWorkIsRefusedUnlessForced) {
  std::vector<RunFacts> runs{made_facts("a", "all", 100), made_facts("b", "all", 150)};
  runs[1].work["precision"] = "bf16";
  const std::string text = refusal({}, runs);
  EXPECT_THAT(text, HasSubstr("precision: fp16 and bf16"));
  EXPECT_THAT(text, HasSubstr("--force"));
  const CompareResult forced = compare({}, runs, {.force = true});
  ASSERT_EQ(forced.comparisons.size(), 1u);
  EXPECT_TRUE(forced.comparisons[0].differences.front().is_work);
  EXPECT_NEAR(*forced.comparisons[0].time_ratio, 1 / 1.5, 1e-9);
  EXPECT_THAT(refusal({runs[0]}, {runs[1]}), HasSubstr("precision"));
}

TEST(Compare, EachModelHasABaseOfItsOwn) {
  std::vector<RunFacts> runs{made_facts("bl", "localGPUs", 100), made_facts("bf", "falconGPUs", 50),
                             made_facts("rl", "localGPUs", 900),
                             made_facts("rf", "falconGPUs", 880)};
  for (const std::size_t i : {2u, 3u}) {
    runs[i].model = "resnet50";
    runs[i].work["model"] = "resnet50";
  }
  const CompareResult result = compare({}, runs, {});
  ASSERT_EQ(result.comparisons.size(), 2u);
  EXPECT_EQ(result.comparisons[1].base.files, std::vector<std::string>{"rl.json"});
  EXPECT_NEAR(*result.comparisons[1].time_ratio, 900.0 / 880, 1e-9);
}

TEST(Compare, FailedRunsDoNotCount) {
  std::vector<RunFacts> runs = made_repeats("b", "all", {100, 100});
  std::vector<RunFacts> today = made_repeats("t", "all", {99, 1});
  today[1].status = "failed";
  const CompareResult result = compare(runs, today, {.gate = 0.05});
  EXPECT_EQ(result.comparisons[0].other.runs, 1);
  EXPECT_EQ(result.comparisons[0].other.failed, 1);
  EXPECT_EQ(result.verdict, "ok");
  today[0].status = "failed";
  EXPECT_FALSE(compare(runs, today, {}).comparisons[0].time_ratio.has_value());
  EXPECT_THAT(refusal(runs, today, {.gate = 0.05}), HasSubstr("none of the 2 runs"));
}

TEST(Compare, WhatIsMissingStaysMissing) {
  std::vector<RunFacts> runs{made_facts("a", "localGPUs", 100), made_facts("b", "falconGPUs", 90)};
  runs[0].energy_j_per_sample = 2.0;
  runs[1].energy_j_per_sample = Measured<double>::missing("no counter");
  const CompareResult result = compare({}, runs, {});
  for (const FigureChange& change : result.comparisons[0].figures) {
    if (change.name != "energy a sample") continue;
    EXPECT_EQ(*change.base, 2.0);
    EXPECT_EQ(change.other.reason, "no counter");
    EXPECT_EQ(change.change_pct.reason, "no counter");
  }
}

TEST(Compare, ThePriceGivesSamplesForIt) {
  CompareOptions options;
  options.price = {2.0, "EUR"};
  const CompareResult result =
      compare({}, {made_facts("a", "x", 100), made_facts("b", "y", 50)}, options);
  const FigureChange& cost = result.comparisons[0].figures.back();
  EXPECT_EQ(cost.unit, "samples/EUR");
  EXPECT_DOUBLE_EQ(*cost.base, 100.0 * 3600 / (2 * 2.0));  // 2 GPUs at 2 EUR
  RunFacts on_cpu = made_facts("c", "cpu", 10);
  on_cpu.has_gpus = false;
  EXPECT_EQ(samples_per_price(on_cpu, options.price).reason, "the run used no GPU");
}

TEST(Compare, OneReportIsNothingToCompare) {
  EXPECT_THAT(refusal({}, {made_facts("a", "all", 1)}), HasSubstr("at least two"));
}

TEST(Compare, SettingsThatDifferAreInTheName) {
  std::vector<RunFacts> runs{made_facts("a", "all", 100), made_facts("b", "all", 90)};
  runs[0].settings["engine.graphs"] = "on";
  runs[1].settings["engine.graphs"] = "off";
  const CompareResult result = compare({}, runs, {});
  EXPECT_EQ(result.comparisons[0].other.name, "all, engine.graphs=off");
}

}  // namespace
}  // namespace falcon::analysis
