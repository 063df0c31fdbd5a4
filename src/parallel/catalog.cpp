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
    Row{"dp", parallel::make_dp},
    Row{"ddp", parallel::make_ddp},
    Row{"sharded", parallel::make_sharded},
};

struct GradientTypeRow {
  const char* name;
  std::optional<at::ScalarType> type;
};
constexpr std::array kGradientTypes = {
    GradientTypeRow{"fp32", {}},  // the gradients' own
    GradientTypeRow{"fp16", at::kHalf},
    GradientTypeRow{"bf16", at::kBFloat16},
};

}  // namespace

std::vector<std::string> parallel::strategy_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

std::optional<at::ScalarType> parallel::exchanged_type(std::string_view name) {
  for (const GradientTypeRow& row : kGradientTypes) {
    if (name == row.name) return row.type;
  }
  throw Error(ExitCode::kUsage, "gradients are not exchanged in " + std::string(name));
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
