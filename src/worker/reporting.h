// What goes wrong in a worker, told to the launcher.
#pragma once
#include <functional>

#include <falconbench/errors.h>

#include "launch/worker_channel.h"

namespace falcon::worker {

/// Runs the work of a rank. What it throws is sent as a failure, and is the exit code.
ExitCode report_failures(launch::WorkerChannel& channel, const std::function<void()>& work);

}  // namespace falcon::worker
