#include "launch/signals.h"

#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "falconbench/errors.h"
#include "launch/process.h"

namespace falcon::launch {
namespace {

// A signal handler is given nothing but the signal's number, so where it writes has to be known to
// the whole file. signalfd would not need it, but wants the signal blocked in every thread, also in
// those that libraries have started.
std::atomic<int> write_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void note_signal(int signal) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // a full pipe already holds more signals than anyone needs
  [[maybe_unused]] const ssize_t written = write(write_fd.load(), &byte, 1);
  errno = saved;
}

}  // namespace

SignalWatch::SignalWatch() {
  DescriptorPair pipe = make_pipe();
  read_end_ = std::move(pipe.first);
  write_end_ = std::move(pipe.second);
  fcntl(write_end_.get(), F_SETFL, O_NONBLOCK);
  if (int none = -1; !write_fd.compare_exchange_strong(none, write_end_.get())) {
    throw Error(ExitCode::kInternal, "signals are already watched in this process");
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Former former{signal, {}};
    sigaction(signal, nullptr, &former.action);
    if (signal == SIGHUP && former.action.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
    former_.push_back(former);
  }
}

SignalWatch::~SignalWatch() {
  for (const Former& former : former_) sigaction(former.signal, &former.action, nullptr);
  write_fd = -1;
}

std::vector<int> SignalWatch::take() {
  std::vector<int> signals;
  unsigned char bytes[64];
  ssize_t size = 0;
  while ((size = read(read_end_.get(), bytes, sizeof bytes)) > 0) {
    signals.insert(signals.end(), bytes, bytes + size);
  }
  return signals;
}

void throw_if_interrupted(SignalWatch& signals) {
  const std::vector<int> came = signals.take();
  if (came.empty()) return;
  throw Error(came.front() == SIGINT ? ExitCode::kInterrupted : ExitCode::kTerminated,
              "interrupted by " + signal_name(came.front()));
}

}  // namespace falcon::launch
