#include "analysis/export/junit.h"

#include <cmath>

#include "analysis/export/exporters.h"
#include "analysis/export/xml_text.h"
#include "analysis/run_facts.h"
#include "base/text.h"

namespace falcon::analysis {
namespace {

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + xml_text(value) + "\"";
}

std::string case_text(const TestCase& test) {
  std::string text = "    <testcase" + attribute("classname", test.group) +
                     attribute("name", test.name) +
                     attribute("time", base::number_text(test.time_s)) + ">\n";
  if (!test.failure.empty()) {
    text += "      <failure" + attribute("message", test.failure) + "/>\n";
  } else if (!test.skipped.empty()) {
    text += "      <skipped" + attribute("message", test.skipped) + "/>\n";
  }
  if (!test.output.empty())
    text += "      <system-out>" + xml_text(test.output) + "</system-out>\n";
  return text + "    </testcase>\n";
}

std::string findings_text(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += finding.severity + " " + finding.id + ": " + finding.message + "\n";
  }
  return text;
}

TestCase case_of(const NamedReport& named) {
  const Report& report = named.report;
  const RunFacts facts = facts_of(report, named.file);
  TestCase test;
  test.group = "falconbench." + facts.model;
  test.name = (facts.name.empty() ? facts.id : facts.name) + " (" + configuration_name(facts) + ")";
  test.time_s = report.run.duration_s;
  if (facts.status != "ok") {
    test.failure = facts.status + (facts.error.empty() ? "" : ": " + facts.error);
  }
  if (facts.samples_per_s.has_value()) {
    test.output = base::number_text(*facts.samples_per_s) + " samples/s\n";
  }
  test.output += findings_text(report);
  return test;
}

}  // namespace

std::string junit_text(const std::string& suite, const std::vector<TestCase>& tests) {
  int failures = 0;
  int skipped = 0;
  double time_s = 0;
  std::string cases;
  for (const TestCase& test : tests) {
    failures += test.failure.empty() ? 0 : 1;
    skipped += test.failure.empty() && !test.skipped.empty() ? 1 : 0;
    time_s += test.time_s;
    cases += case_text(test);
  }
  const std::string counts =
      attribute("tests", std::to_string(tests.size())) +
      attribute("failures", std::to_string(failures)) + attribute("errors", "0") +
      attribute("skipped", std::to_string(skipped)) + attribute("time", base::number_text(time_s));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" +
         attribute("name", suite) + counts + ">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

ExportFiles junit_xml(const Reports& reports) {
  std::vector<TestCase> tests;
  for (const NamedReport& named : reports) tests.push_back(case_of(named));
  return {{"", junit_text("falconbench", tests)}};
}

}  // namespace falcon::analysis
