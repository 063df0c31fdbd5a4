// One process of `falconbench links`, from what it is told to what it measured.
#pragma once
#include <falconbench/errors.h>

#include "launch/worker_channel.h"

namespace falcon::worker {

/// REQUIRES: channel.plan().links. Every size that was measured counts as a step, so that the
/// launcher can tell which copy does not end. Failures as run_session().
ExitCode run_link_session(launch::WorkerChannel& channel, int listen_fd);

}  // namespace falcon::worker
