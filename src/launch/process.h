// One child process in a process group of its own: started, watched, signalled and reaped. Only
// processes that were started here are ever signalled.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "falconbench/errors.h"
#include "launch/descriptor.h"

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

/// How a process ended, and what it used (with the children that it waited for).
struct ProcessEnd {
  bool by_signal = false;
  int code = 0;  // exit code, or signal number
  double user_s = 0, system_s = 0;
  std::int64_t peak_rss_bytes = 0;
  bool is_clean() const { return !by_signal && code == 0; }
};
/// "exit code 3", "killed by SIGSEGV".
std::string to_text(const ProcessEnd& end);
/// "SIGKILL"; "signal 64" for one without a name.
std::string signal_name(int signal);

class Process {
 public:
  Process() = default;
  /// Starts it with the default signal handlers, an empty signal mask, stdin from /dev/null and no
  /// other descriptors than those named. Throws Error(kHost). REQUIRES: the calling thread outlives
  /// the process (PR_SET_PDEATHSIG looks at the thread).
  explicit Process(const ProcessStart& start);
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  /// Kills the group and reaps the process.
  ~Process();

  pid_t pid() const { return pid_; }
  bool was_started() const { return pid_ > 0; }
  bool is_running() const { return pid_ > 0 && !end_ && !is_given_up_; }
  /// Readable in poll() when the process has ended; -1 where the kernel has no such thing.
  int pidfd() const { return pidfd_.get(); }
  const std::optional<ProcessEnd>& end() const { return end_; }

  /// To the process and its children, while it has not been reaped.
  void signal_group(int signal) const;
  /// If it has ended: kills what is left of its group, reaps it, and returns true (once). Does not
  /// wait.
  bool reap();
  /// Waits for it no more: a process stuck inside the kernel does not end when it is killed.
  void give_up() { is_given_up_ = true; }
  /// State letter of /proc/PID/stat (T: stopped, D: in the kernel, Z, ...), '?' if unknown.
  char state() const;

 private:
  pid_t pid_ = 0;
  Descriptor pidfd_;
  std::optional<ProcessEnd> end_;
  bool is_given_up_ = false;
};

}  // namespace falcon::launch
