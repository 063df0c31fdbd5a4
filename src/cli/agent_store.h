// The store of torchrun's agent, which only LibTorch can speak to: the launcher, which has none,
// asks a helper process.
#pragma once
#include "cli/commands.h"
#include "cli/patience.h"
#include "launch/crew.h"
#include "launch/job.h"

namespace falcon::cli {

inline constexpr const char* kAgentStoreFlag = "--agent-store";

/// Asks the store of the agent of this job. patience must outlive it.
launch::AgentStore agent_store_of(const launch::Job& job, const Patience& patience);

/// The helper: falconbench worker --agent-store HOST PORT KEY. A value to set comes in the
/// environment, where other users do not see it.
ExitCode agent_store_command(const Words& words);

}  // namespace falcon::cli
