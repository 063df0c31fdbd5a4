#include "launch/waiting.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "falconbench/clock.h"

namespace falcon::launch {
namespace {
// The deadline of a run is looked at by check() alone.
constexpr double kLongestSleepSeconds = 1;
}  // namespace

bool Waiting::poll(std::span<pollfd> fds, double retry_s) const {
  if (check) check();
  const double now_s = steady_now_s();
  if (now_s >= until_s) return false;
  std::vector<pollfd> all(fds.begin(), fds.end());
  all.push_back({wake_fd, POLLIN, 0});
  const double wait_s = std::clamp(std::min(until_s, retry_s) - now_s, 0.0, kLongestSleepSeconds);
  ::poll(all.data(), all.size(), static_cast<int>(std::ceil(1e3 * wait_s)));
  std::copy_n(all.begin(), fds.size(), fds.begin());
  if (check) check();
  return true;
}

bool Waiting::poll_one(int fd, int events) const {
  pollfd one{fd, static_cast<short>(events), 0};
  while (poll(std::span(&one, 1))) {
    if (one.revents != 0) return true;
  }
  return false;
}

}  // namespace falcon::launch
