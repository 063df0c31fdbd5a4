#include <cstdio>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"

namespace falcon::cli {
namespace {

const std::vector<std::string> verbs = {"run",    "doctor", "links",   "data", "compare",
                                        "report", "export", "predict", "list"};

}  // namespace

ExitCode dispatch(const Words& argv) {
  const Words words(argv.begin() + 1, argv.end());
  if (words.empty()) throw Error(ExitCode::kUsage, "nothing to do: give --config FILE (or --help)");
  const std::string& first = words.front();
  if (first == "--help" || first == "-h") {
    std::fputs(kMainHelp, stdout);
    return ExitCode::kOk;
  }
  if (first == "--version") return version_command();
  if (first == "worker") return worker_command({words.begin() + 1, words.end()});
  if (first[0] == '-') return run_command(argv.front(), words);
  const Words rest(words.begin() + 1, words.end());
  if (first == "run") return run_command(argv.front(), rest);
  if (first == "doctor") return doctor_command(rest);
  if (first == "links") return links_command(argv.front(), rest);
  if (first == "data") return data_command(rest);
  if (first == "compare") return compare_command(rest);
  if (first == "report") return report_command(rest);
  if (first == "export") return export_command(rest);
  if (first == "predict") return predict_command(rest);
  if (first == "list") return list_command(rest);
  const std::string near = base::nearest(first, verbs);
  throw Error(ExitCode::kUsage, "unknown verb \"" + base::printable(first) + "\"" +
                                    (near.empty() ? "" : ", did you mean " + near + "?") +
                                    " Known: " + base::join(verbs, ", ") +
                                    " (a spec file is given with --config FILE)");
}

}  // namespace falcon::cli
