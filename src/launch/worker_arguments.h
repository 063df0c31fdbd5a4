// The command line of a worker: written by the launcher, read by the program that it starts.
//
//   falconbench worker --control-fd 3 [--listen-fd 4] (--parent PID | --joined) [more words]
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace falcon::launch {

struct WorkerArguments {
  int control_fd = -1;
  std::optional<int> listen_fd;    // rank 0: the bound rendezvous socket
  pid_t parent = 0;                // the launcher; 0 in a process that joined it
  std::vector<std::string> extra;  // what the launcher was asked to pass on
};

/// Without the program's name, from "worker" on.
std::vector<std::string> words_of(const WorkerArguments& arguments);

/// Reads what words_of wrote. Throws Error(kUsage): workers are started by falconbench only.
WorkerArguments parse_worker_arguments(std::span<const std::string> words);

/// Makes the kernel end this process when the launcher's thread that started it ends, and checks
/// that the launcher had not ended before. To be called first thing in a worker. Throws
/// Error(kWorker) when the launcher is gone.
void bind_to_launcher(pid_t launcher);

}  // namespace falcon::launch
