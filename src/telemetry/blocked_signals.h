// Signals of a run are for the thread that supervises it; a new thread starts with its maker's
// mask.
#pragma once
#include <signal.h>

namespace falcon::telemetry {

/// Blocks all signals on this thread while it lives.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace falcon::telemetry
