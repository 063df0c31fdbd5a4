#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "base/text.h"
#include "cli/commands.h"
#include "falconbench/catalog.h"
#include "spec/keys.h"

namespace falcon::cli {
namespace {

template <class Facts>
std::string table(std::span<const Facts> rows) {
  std::string out;
  for (const Facts& row : rows) {
    char line[512];
    std::snprintf(line, sizeof line, "%-20s %s\n", row.name.c_str(), row.title.c_str());
    out += line;
  }
  return out;
}

std::string models_table() {
  std::string out;
  for (const ModelFacts& model : catalog::models()) {
    const bool is_image = model.image_size > 0;
    char line[512];
    std::snprintf(
        line, sizeof line,
        "%-14s %6.1f M parameters, %7.2f GFLOP forward at %lld %s, batch %lld a GPU; %s\n",
        model.name.c_str(), static_cast<double>(model.parameters) / 1e6,
        model.forward_flops_per_sample / 1e9,
        static_cast<long long>(is_image ? model.image_size : model.sequence_length),
        is_image ? "px" : "tokens", static_cast<long long>(model.batch_per_gpu),
        model.title.c_str());
    out += line;
  }
  return out;
}

const std::map<std::string, std::function<std::string()>>& lists() {
  static const std::map<std::string, std::function<std::string()>> table_of = {
      {"keys", [] { return spec::keys_table(); }},
      {"models", [] { return models_table(); }},
      {"topologies", [] { return table(catalog::topologies()); }},
      {"storages", [] { return table(catalog::storages()); }},
      {"precisions", [] { return table(catalog::precisions()); }},
      {"parallelism", [] { return table(catalog::parallelisms()); }},
      {"datasets", [] { return table(catalog::datasets()); }},
      {"optimizers", [] { return table(catalog::optimizers()); }},
      {"schedules", [] { return table(catalog::schedules()); }},
      {"samplers", [] { return table(catalog::samplers()); }},
      {"findings", [] { return table(catalog::findings()); }},
  };
  return table_of;
}

}  // namespace

ExitCode list_command(const Words& words) {
  std::vector<std::string> known;
  for (const auto& [name, make] : lists()) known.push_back(name);
  if (words.empty()) {
    throw Error(ExitCode::kUsage, "list what? Known: " + base::join(known, ", "));
  }
  if (words.front() == "--help" || words.front() == "-h") {
    std::printf("falconbench list WHAT; WHAT: %s\n", base::join(known, ", ").c_str());
    return ExitCode::kOk;
  }
  const auto found = lists().find(words.front());
  if (found == lists().end() || words.size() > 1) {
    const std::string near = base::nearest(words.front(), known);
    throw Error(ExitCode::kUsage, "list: unknown \"" + base::printable(words.back()) + "\"" +
                                      (near.empty() ? "" : ", did you mean " + near + "?") +
                                      " Known: " + base::join(known, ", "));
  }
  std::fputs(found->second().c_str(), stdout);
  return ExitCode::kOk;
}

}  // namespace falcon::cli
