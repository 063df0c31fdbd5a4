// A worker's process as a supervisor holds it: a child, a process that joined, or one on another
// host.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "falconbench/fields.h"

namespace falcon::launch {

/// How a process ended, and what it used (with the children that it waited for).
struct ProcessEnd {
  bool by_signal = false;
  int code = 0;  // exit code, or signal number
  double user_s = 0, system_s = 0;
  std::int64_t peak_rss_bytes = 0;
  std::string unknown = {};  // why nothing of the above is known; empty when it is
  bool is_clean() const { return !by_signal && code == 0; }
};
template <class V>
void visit_fields(ProcessEnd& e, V& v) {
  v.field("by_signal", e.by_signal, "killed by a signal");
  v.field("code", e.code, "exit code, or signal number");
  v.field("user_s", e.user_s, "CPU time in user mode");
  v.field("system_s", e.system_s, "CPU time in the kernel");
  v.field("peak_rss_bytes", e.peak_rss_bytes, "peak resident memory");
  v.field("unknown", e.unknown, "why the rest is not known");
}
/// "exit code 3", "killed by SIGSEGV", or why neither is known.
std::string to_text(const ProcessEnd& end);

class WorkerProcess {
 public:
  virtual ~WorkerProcess() = default;

  virtual pid_t pid() const = 0;
  virtual bool is_running() const = 0;
  /// Readable in poll() when the process has ended; -1: its end is told by other ways.
  virtual int pidfd() const = 0;
  virtual const std::optional<ProcessEnd>& end() const = 0;
  /// To the process (and its children, where it leads a group), while it runs.
  virtual void signal_group(int signal) const = 0;
  /// If it has ended: takes note of how, and returns true (once). Does not wait.
  virtual bool reap() = 0;
  /// Waits for it no more: a process stuck inside the kernel does not end when it is killed.
  virtual void give_up() = 0;
  /// State letter of /proc/PID/stat (T: stopped, D: in the kernel, Z, ...), '?' if unknown.
  virtual char state() const = 0;
};

}  // namespace falcon::launch
