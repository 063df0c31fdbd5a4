#include "analysis/compare_text.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/csv.h"
#include "base/json.h"
#include "made_facts.h"

namespace falcon::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

CompareResult made_result(const std::string& topology = "falconGPUs") {
  RunFacts base = made_facts("a", "localGPUs", 100);
  RunFacts other = made_facts("b", topology, 50);
  other.emulated = true;
  base.pcie_bytes_per_s = 4e9;
  other.pcie_bytes_per_s = 76.43e9;
  base.energy_j_per_sample = other.energy_j_per_sample = Measured<double>::missing("no counter");
  return compare({}, {base, other}, {.gate = 0.05});
}

TEST(CompareText, TheTableHasDifferencesFiguresAndReasons) {
  const std::string text = table_text(made_result());
  EXPECT_THAT(text, HasSubstr("topology: localGPUs -> falconGPUs"));
  EXPECT_THAT(text, HasSubstr("falconGPUs (emulated)"));
  EXPECT_THAT(text, HasSubstr("+100.0 %"));
  EXPECT_THAT(text, HasSubstr("76.43 GB/s"));
  EXPECT_THAT(text, HasSubstr("energy a sample: no counter"));
  EXPECT_THAT(text, HasSubstr("gate: regression"));
  EXPECT_THAT(text, HasSubstr("one run each"));
}

TEST(CompareText, MarkdownEscapesWhatAUserNamed) {
  const std::string text = markdown_text(made_result("a|b<script>"));
  EXPECT_THAT(text, HasSubstr("a\\|b\\<script\\>"));
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
  EXPECT_THAT(text, HasSubstr("|---|---:|"));
}

TEST(CompareText, CsvQuotesAndKeepsReasons) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
  const std::string text = csv_text(made_result("x,y"));
  EXPECT_THAT(text,
              HasSubstr("bert_large,localGPUs,\"x,y\",1,1,yes,throughput,samples/s,100,50,-50,"));
  EXPECT_THAT(text, HasSubstr("energy a sample,J,,,,no counter"));
}

TEST(CompareText, JsonHasAllByTheFieldLists) {
  const base::Value value = base::parse_json(json_text(made_result()), "compare");
  EXPECT_EQ(value.find("verdict")->as_text(), "regression");
  const base::Value& comparison = value.find("comparisons")->as_list().front();
  EXPECT_EQ(comparison.find("time_ratio")->as_number(), 2);
  EXPECT_TRUE(comparison.find("time_ratio_low")->is_null());
  EXPECT_EQ(comparison.find("time_ratio_low_reason")->as_text(), "one run on a side has no spread");
  EXPECT_EQ(comparison.find_path("speed.verdict")->as_text(), "regression");
}

}  // namespace
}  // namespace falcon::analysis
