// The arithmetic of the parity tests itself, with numbers worked out by hand.
#include "support/reference_set.h"

#include <fstream>
#include <limits>

#include <gtest/gtest.h>

namespace falcon::test {
namespace {

TEST(Fnv1a64, MatchesThePublishedVectors) {
  EXPECT_EQ(fnv1a64(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a64("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8U);
}

TEST(Table, FindsColumnsByName) {
  const Json parent =
      Json::parse(R"({"rows_columns": ["name", "l2"], "rows": [["a", 1.5], ["b", 2.5]]})");
  const Table table(parent, "rows");
  EXPECT_EQ(table.at(table.rows()[1], "l2"), 2.5);
  EXPECT_TRUE(table.has("name"));
  EXPECT_FALSE(table.has("sum"));
}

TEST(Fill, UnitsAre24BitNumbersInTheHalfOpenInterval) {
  const std::uint64_t hash = fnv1a64("key");
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_GE(fill_unit(hash, i), -1);
    EXPECT_LT(fill_unit(hash, i), 1);
    EXPECT_EQ((fill_unit(hash, i) + 1) * 0x1p23, fill_bits(hash, i));
  }
}

TEST(FillRule, TakesTheFirstRowThatMatches) {
  EXPECT_FALSE(fill_rule("bn1.num_batches_tracked", {}));
  EXPECT_EQ(fill_rule("bn1.running_var", {8})->offset, 1.125);
  EXPECT_EQ(fill_rule("bn1.bias", {8})->scale, 0.05F);
  EXPECT_EQ(fill_rule("bn1.weight", {8})->offset, 1);
  EXPECT_EQ(fill_rule("fc.weight", {10, 16})->scale, 0.25);
  EXPECT_EQ(fill_rule("conv.weight", {10, 6, 1, 1})->scale, 1);
  EXPECT_EQ(fill_rule("a.embeddings.b.weight", {10, 16})->scale, 0.0625);
}

TEST(Summarize, IsTheSumsByTheirDefinition) {
  const std::vector<double> values{3, -4};
  const std::uint64_t hash = fnv1a64("probe:x");
  const Summary summary = summarize(values, "x");
  EXPECT_EQ(summary.l2, 5);
  EXPECT_EQ(summary.sum, -1);
  EXPECT_EQ(summary.dot, 3 * fill_unit(hash, 0) - 4 * fill_unit(hash, 1));
  EXPECT_EQ(summary.absmean, 3.5);
}

TEST(Comparison, FailsWithoutRows) {
  EXPECT_FALSE(Comparison().passed());
}

TEST(Comparison, WorstIsErrorOverTolerance) {
  Comparison comparison;
  comparison.row("a");
  comparison.near("x", 1, 1.5, 1);
  comparison.row("b");
  comparison.near("x", 1, 1.25, 1);
  EXPECT_EQ(comparison.rows(), 2U);
  EXPECT_EQ(comparison.worst(), 0.5);
  EXPECT_TRUE(comparison.worst_text().starts_with("a x")) << comparison.worst_text();
  EXPECT_TRUE(comparison.passed());
  comparison.near("x", 1, 2.5, 1);
  EXPECT_FALSE(comparison.passed());
  EXPECT_EQ(parity_line("m", "float64", "s", comparison), "parity m float64 s rows=2 worst=1.5");
}

TEST(Comparison, NotANumberIsInfinitelyWrong) {
  Comparison comparison;
  comparison.row("a");
  comparison.near("x", 1, std::numeric_limits<double>::quiet_NaN(), 1e9);
  EXPECT_FALSE(comparison.passed());
}

TEST(Comparison, ZeroToleranceAllowsEqualityOnly) {
  Comparison comparison;
  comparison.row("a");
  comparison.near("x", 0, 0, 0);
  EXPECT_TRUE(comparison.passed());
  comparison.near("x", 0, 1e-300, 0);
  EXPECT_FALSE(comparison.passed());
}

TEST(Comparison, SummaryRuleScalesWithL2AndCount) {
  const Summary expected{.l2 = 2, .sum = 1, .dot = 1, .count = 4};
  Summary actual = expected;
  actual.sum += 0.1 * 2 * 2;  // r * l2 * sqrt(4)
  Comparison comparison;
  comparison.row("a");
  comparison.summary(expected, actual, 0.1);
  EXPECT_NEAR(comparison.worst(), 1, 1e-12);
  actual = expected;
  actual.dot += 10 * 0.1 * 2 * 1.5;
  comparison.summary(expected, actual, 0.1);
  EXPECT_NEAR(comparison.worst(), 1.5, 1e-12);
}

TEST(ModelFiles, AreTheJsonFilesThatNameAModel) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "falcon_model_files";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "b.json") << R"({"model": "one"})";
  std::ofstream(folder / "a.json") << R"({"model": "two"})";
  std::ofstream(folder / "c.json") << R"({"other": 1})";
  std::ofstream(folder / "d.txt") << R"({"model": "three"})";
  const std::vector<ReferenceFile> files = model_files(folder);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].json["model"], "two");
  EXPECT_EQ(files[1].path.filename(), "b.json");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace falcon::test
