// SIGINT, SIGTERM and SIGHUP as something to poll for.
#pragma once
#include <csignal>
#include <vector>

#include "launch/descriptor.h"

namespace falcon::launch {

/// While it lives, these signals do not end the process but make fd() readable, whichever thread
/// they were delivered to; afterwards the former handlers are back. At most one at a time in a
/// process. SIGINT and SIGTERM are taken even if they were ignored (a shell's background job is
/// asked to stop with kill -INT); SIGHUP stays ignored under nohup.
class SignalWatch {
 public:
  /// Throws Error(kInternal).
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  int fd() const { return read_end_.get(); }
  /// The signals that came since the last call, in order. Does not wait.
  std::vector<int> take();

 private:
  struct Former {
    int signal;
    struct sigaction action;
  };
  Descriptor read_end_, write_end_;
  std::vector<Former> former_;
};

/// Throws Error(kInterrupted; kTerminated unless it was SIGINT) when a signal has come since the
/// last look.
void throw_if_interrupted(SignalWatch& signals);

}  // namespace falcon::launch
