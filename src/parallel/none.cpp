#include <falconbench/errors.h>

#include "comm/process_group.h"
#include "parallel/strategies.h"

namespace falcon::parallel {
namespace {

class None : public Strategy {
 public:
  void before_forward() override {}
  void before_backward() override {}
  CommunicationCount last_step() const override { return {}; }
  std::vector<double> busy_ms() const override { return {}; }
  bool marks_gradients() const override { return false; }
  std::map<std::string, std::string> choices() const override { return {}; }
};

}  // namespace

std::unique_ptr<Strategy> make_none(const StrategyContext& context) {
  if (context.group != nullptr && context.group->world() > 1) {
    throw Error(ExitCode::kUsage, "parallelism none is for one device, not for " +
                                      std::to_string(context.group->world()));
  }
  return std::make_unique<None>();
}

}  // namespace falcon::parallel
