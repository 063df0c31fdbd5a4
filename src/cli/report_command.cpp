// falconbench report: one page with the figures of many runs.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "analysis/links_table.h"
#include "analysis/page.h"
#include "analysis/page_run.h"
#include "analysis/read_report.h"
#include "base/files.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/word_options.h"

namespace falcon::cli {
namespace {

/// Points over time for each of so many runs: a thousand reports still make a page of a few MB.
std::size_t points_for(std::size_t runs) {
  return std::clamp<std::size_t>(60000 / std::max<std::size_t>(runs, 1), 24, 300);
}

void write_csv(const analysis::PageData& data, const std::string& folder) {
  for (const auto& [name, text] : analysis::page_csv(data)) {
    const std::string path = folder + "/" + name;
    base::make_parent_folders(path);
    base::write_file_atomically(path, text);
  }
}

}  // namespace

ExitCode report_command(const Words& words) {
  if (asks_for_help(words)) {
    std::fputs(kReportHelp, stdout);
    return ExitCode::kOk;
  }
  const WordOptions given("report", words,
                          {{"--html", "a file"},
                           {"--csv", "a folder"},
                           {"--links", "a file of falconbench links --json"},
                           {"--price", "a price"},
                           {"--currency", "a word"}});
  const std::vector<std::string> files = analysis::report_files(given.plain());
  if (files.empty()) throw Error(ExitCode::kUsage, "report: give at least one report or folder");
  if (!given.has("--html") && !given.has("--csv")) {
    throw Error(ExitCode::kUsage, "report: say where to: --html FILE, --csv DIR or both");
  }
  std::vector<analysis::PageRun> runs;
  for (const std::string& file : files) {
    runs.push_back(analysis::page_run(analysis::read_report(file), file, points_for(files.size())));
  }
  analysis::PageData data = analysis::make_page_data(runs, price_of(given));
  if (given.has("--links")) {
    const LinksReport links = analysis::read_links(given.value("--links"));
    analysis::add_link_figures(links, data.charts, data.answers);
  }
  if (given.has("--csv")) write_csv(data, given.value("--csv"));
  if (given.has("--html")) {
    const std::string path = given.value("--html");
    base::make_parent_folders(path);
    base::write_file_atomically(path, analysis::page_html(data));
    std::fprintf(stderr, "falconbench: %zu reports are in %s\n", files.size(), path.c_str());
  }
  return ExitCode::kOk;
}

}  // namespace falcon::cli
