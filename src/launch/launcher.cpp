#include "launch/launcher.h"

#include <optional>

#include "launch/signals.h"
#include "launch/supervisor.h"

namespace falcon::launch {

RunLog run(const Plan& plan, const LaunchOptions& options) {
  if (plan.ranks.empty()) throw Error(ExitCode::kInternal, "a plan without ranks");
  // before the first worker: none is left behind by an early Ctrl-C
  std::optional<SignalWatch> own;
  SignalWatch& signals = options.signals != nullptr ? *options.signals : own.emplace();
  Supervisor supervisor(plan, options, signals);
  supervisor.start();
  supervisor.supervise();
  return supervisor.take_log();
}

}  // namespace falcon::launch
