#include <falconbench/errors.h>

#include "comm/process_group.h"
#include "parallel/strategies.h"
#include "parallel/undivided.h"

namespace falcon::parallel {

std::unique_ptr<Strategy> make_none(const StrategyContext& context) {
  if (context.group != nullptr && context.group->world() > 1) {
    throw Error(ExitCode::kUsage, "parallelism none is for one device, not for " +
                                      std::to_string(context.group->world()));
  }
  return std::make_unique<Undivided>(context);
}

}  // namespace falcon::parallel
