// falconbench export: reports in the forms of other tools.
#include <cstdio>
#include <string>
#include <vector>

#include "analysis/export/exporters.h"
#include "analysis/read_report.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/word_options.h"

namespace falcon::cli {
namespace {

const analysis::Exporter& exporter_of(const Words& plain) {
  Words known;
  for (const analysis::Exporter& exporter : analysis::exporters())
    known.emplace_back(exporter.name);
  if (plain.empty()) {
    throw Error(ExitCode::kUsage, "export to what? Known: " + base::join(known, ", "));
  }
  for (const analysis::Exporter& exporter : analysis::exporters()) {
    if (plain.front() == exporter.name) return exporter;
  }
  const std::string near = base::nearest(plain.front(), known);
  throw Error(ExitCode::kUsage, "export: unknown format \"" + base::printable(plain.front()) +
                                    "\"" + (near.empty() ? "" : ", did you mean " + near + "?") +
                                    " Known: " + base::join(known, ", "));
}

void write(const std::string& path, const std::string& bytes) {
  base::make_parent_folders(path);
  base::write_file_atomically(path, bytes);
}

}  // namespace

ExitCode export_command(const Words& words) {
  if (asks_for_help(words)) {
    std::fputs(kExportHelp, stdout);
    for (const analysis::Exporter& exporter : analysis::exporters()) {
      std::printf("  %-12s %s\n", exporter.name, exporter.title);
    }
    return ExitCode::kOk;
  }
  const WordOptions given("export", words, {{"--output", "a file or a folder"}});
  const analysis::Exporter& exporter = exporter_of(given.plain());
  const std::vector<std::string> files =
      analysis::report_files({given.plain().begin() + 1, given.plain().end()});
  if (files.empty()) throw Error(ExitCode::kUsage, "export: give at least one report or folder");
  if (exporter.needs_folder && !given.has("--output")) {
    throw Error(ExitCode::kUsage,
                std::string("export ") + exporter.name + " writes files: give --output DIR");
  }
  analysis::Reports reports;
  for (const std::string& file : files) reports.push_back({file, analysis::read_report(file)});
  for (const auto& [name, bytes] : exporter.make(reports)) {
    if (!given.has("--output")) {
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    } else {
      write(given.value("--output") + (exporter.needs_folder ? "/" + name : ""), bytes);
    }
  }
  return ExitCode::kOk;
}

}  // namespace falcon::cli
