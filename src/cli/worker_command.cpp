// One rank of a run, or a helper of the launcher: the only commands that load the engine.
#include <cstdio>

#include "cli/agent_store.h"
#include "cli/commands.h"
#include "cli/engine_library.h"
#include "falconbench/errors.h"
#include "launch/worker_arguments.h"
#include "launch/worker_channel.h"

namespace falcon::cli {

ExitCode worker_command(const Words& words) {
  if (words == Words{"--probe"}) {
    std::printf("%s\n", EngineLibrary().probe().c_str());
    return ExitCode::kOk;
  }
  if (!words.empty() && words.front() == kAgentStoreFlag) return agent_store_command(words);
  Words all = {"worker"};
  all.insert(all.end(), words.begin(), words.end());
  const launch::WorkerArguments arguments = launch::parse_worker_arguments(all);
  if (arguments.parent > 0) launch::bind_to_launcher(arguments.parent);
  launch::WorkerChannel channel(arguments.control_fd);
  channel.set_phase("load");
  try {
    const EngineLibrary engine;
    return static_cast<ExitCode>(engine.worker(channel, arguments.listen_fd.value_or(-1)));
  } catch (const Error& error) {
    channel.send_failure("host", error.what(), error.code());
    return error.code();
  }
}

}  // namespace falcon::cli
