// falconbench compare: reports side by side, and the gate for CI.
#include <cstdio>
#include <set>

#include "analysis/compare.h"
#include "analysis/compare_text.h"
#include "analysis/read_report.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/word_options.h"

namespace falcon::cli {
namespace {

using analysis::CompareResult;

const std::vector<std::string> formats = {"table", "markdown", "csv", "json", "junit"};

std::vector<analysis::RunFacts> read_all(const Words& files) {
  std::vector<analysis::RunFacts> runs;
  for (const std::string& file : files) {
    runs.push_back(analysis::facts_of(analysis::read_report(file), file));
  }
  return runs;
}

/// A report that is given twice, or on both sides, must not count twice.
std::vector<analysis::RunFacts> without_known(const std::vector<analysis::RunFacts>& runs,
                                              std::set<std::string>& ids) {
  std::vector<analysis::RunFacts> out;
  for (const analysis::RunFacts& run : runs) {
    if (ids.insert(run.id).second) {
      out.push_back(run);
    } else {
      std::fprintf(stderr, "falconbench: %s: run %s is there already: left out\n",
                   base::printable(run.file, 400).c_str(), base::printable(run.id).c_str());
    }
  }
  return out;
}

double gate_limit(std::string text) {
  if (text.ends_with('%')) text.pop_back();
  const WordOptions percent("compare", {"--gate", text}, {{"--gate", "PERCENT"}});
  return percent.number("--gate", 0, 0, 1000) / 100;
}

std::string text_of(const CompareResult& result, const std::string& format) {
  if (format == "markdown") return analysis::markdown_text(result);
  if (format == "csv") return analysis::csv_text(result);
  if (format == "junit") return analysis::junit_of(result);
  if (format == "json") return analysis::json_text(result);
  return analysis::table_text(result);
}

std::string format_of(const WordOptions& options) {
  const std::string format = options.value("--format", options.has("--json") ? "json" : "table");
  for (const std::string& known : formats) {
    if (format == known) return format;
  }
  throw Error(ExitCode::kUsage, "compare: --format takes " + base::join_or(formats) + ", got \"" +
                                    base::printable(format) + "\"");
}

}  // namespace

ExitCode compare_command(const Words& words) {
  if (asks_for_help(words)) {
    std::fputs(kCompareHelp, stdout);
    return ExitCode::kOk;
  }
  const WordOptions given("compare", words,
                          {{"--base", "a report or a folder"},
                           {"--gate", "a percentage"},
                           {"--significance", "a probability"},
                           {"--force"},
                           {"--format", "a format"},
                           {"--json"},
                           {"--price", "a price"},
                           {"--currency", "a word"}});
  analysis::CompareOptions options;
  const std::string format = format_of(given);
  options.force = given.has("--force");
  if (given.has("--gate")) options.gate = gate_limit(given.value("--gate"));
  options.significance = given.number("--significance", 0.05, 1e-9, 0.5);
  options.price = price_of(given);
  std::set<std::string> ids;
  const std::vector<analysis::RunFacts> base =
      without_known(read_all(analysis::report_files(given.values("--base"))), ids);
  const std::vector<analysis::RunFacts> others =
      without_known(read_all(analysis::report_files(given.plain())), ids);
  const CompareResult result = analysis::compare(base, others, options);
  std::fputs(text_of(result, format).c_str(), stdout);
  return result.verdict == "regression" ? ExitCode::kRegression : ExitCode::kOk;
}

}  // namespace falcon::cli
