#include "parallel/catalog.h"

#include <algorithm>
#include <array>

#include <falconbench/errors.h>

#include "parallel/strategies.h"

namespace falcon {
namespace {

struct Row {
  const char* name;
  std::unique_ptr<Strategy> (*make)(const StrategyContext& context);
};

constexpr std::array kRows = {
    Row{"none", parallel::make_none},
    Row{"ddp", parallel::make_ddp},
};

}  // namespace

std::vector<std::string> parallel::strategy_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const StrategyContext& context) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return name == r.name; });
  if (row == kRows.end()) {
    throw Error(ExitCode::kUsage, "parallelism \"" + std::string(name) + "\" is not known here");
  }
  return row->make(context);
}

}  // namespace falcon
