// One child process in a process group of its own: started, watched, signalled and reaped.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "falconbench/errors.h"
#include "launch/descriptor.h"
#include "launch/worker_process.h"

namespace falcon::launch {

/// Numbers of the descriptors that a worker finds.
inline constexpr int kWorkerControlFd = 3;
inline constexpr int kWorkerListenFd = 4;

struct ProcessStart {
  std::string executable;
  std::vector<std::string> arguments;    // argv, with the program's name
  std::vector<std::string> environment;  // NAME=VALUE
  int control_fd = -1;                   // becomes kWorkerControlFd
  int listen_fd = -1;                    // becomes kWorkerListenFd, -1: none
  int output_fd = -1;                    // becomes stdout and stderr
};

/// This process's environment with some variables replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& assignments);

/// "SIGKILL"; "signal 64" for one without a name.
std::string signal_name(int signal);
/// State letter of a process of this host, '?' if unknown.
char process_state(pid_t pid);
/// Not open where the kernel has no such thing, or no such process.
Descriptor open_pidfd(pid_t pid);

class Process final : public WorkerProcess {
 public:
  Process() = default;
  /// Starts it with the default signal handlers, an empty signal mask, stdin from /dev/null and no
  /// other descriptors than those named. Throws Error(kHost). REQUIRES: the calling thread outlives
  /// the process (PR_SET_PDEATHSIG looks at the thread).
  explicit Process(const ProcessStart& start);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the group and reaps the process.
  ~Process() override;

  pid_t pid() const override { return pid_; }
  bool was_started() const { return pid_ > 0; }
  bool is_running() const override { return pid_ > 0 && !end_ && !is_given_up_; }
  /// -1 where the kernel has no such thing.
  int pidfd() const override { return pidfd_.get(); }
  const std::optional<ProcessEnd>& end() const override { return end_; }

  /// To the process and its children, while it has not been reaped.
  void signal_group(int signal) const override;
  /// Also kills what is left of its group.
  bool reap() override;
  void give_up() override { is_given_up_ = true; }
  char state() const override;

 private:
  pid_t pid_ = 0;
  Descriptor pidfd_;
  std::optional<ProcessEnd> end_;
  bool is_given_up_ = false;
};

}  // namespace falcon::launch
