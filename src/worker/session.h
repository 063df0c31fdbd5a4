// One rank from its plan to its records.
#pragma once
#include <falconbench/errors.h>

#include "launch/worker_channel.h"

namespace falcon::worker {

/// connect -> build -> warm_up -> measure -> finish -> records -> tear_down -> done. What goes
/// wrong is sent as a failure before anything is torn down (which may hang when a peer is gone),
/// and the exit code says it too. Takes over listen_fd.
ExitCode run_session(launch::WorkerChannel& channel, int listen_fd);

}  // namespace falcon::worker
