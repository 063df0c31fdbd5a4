// One rank of a run, or the probe: the only commands that load the engine.
#include <cstdio>

#include "cli/commands.h"
#include "cli/engine_library.h"
#include "launch/worker_arguments.h"

namespace falcon::cli {

ExitCode worker_command(const Words& words) {
  if (words == Words{"--probe"}) {
    std::printf("%s\n", EngineLibrary().probe().c_str());
    return ExitCode::kOk;
  }
  Words all = {"worker"};
  all.insert(all.end(), words.begin(), words.end());
  const launch::WorkerArguments arguments = launch::parse_worker_arguments(all);
  launch::bind_to_launcher(arguments.parent);
  const EngineLibrary engine;
  return static_cast<ExitCode>(
      engine.worker(arguments.control_fd, arguments.listen_fd.value_or(-1), arguments.parent));
}

}  // namespace falcon::cli
