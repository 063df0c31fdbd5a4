// How long something may be waited for, and what ends the waiting before.
#pragma once
#include <functional>
#include <limits>
#include <span>

#include <poll.h>

namespace falcon::launch {

struct Waiting {
  int wake_fd = -1;             // readable: check() has something to say
  std::function<void()> check;  // throws what ends the waiting (a signal, the deadline of the run)
  double until_s = std::numeric_limits<double>::infinity();  // steady clock

  /// poll() of these and wake_fd, until then or until retry_s (steady clock), whichever is earlier.
  /// Calls check() before and after. False after until_s.
  bool poll(std::span<pollfd> fds, double retry_s = std::numeric_limits<double>::infinity()) const;
  /// The same for one descriptor.
  bool poll_one(int fd, int events) const;
};

}  // namespace falcon::launch
