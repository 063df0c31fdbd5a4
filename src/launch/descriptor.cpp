#include "launch/descriptor.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace falcon::launch {
namespace {

// Descriptors of a child are put at 0 to 4; sources above that cannot be overwritten on the way.
constexpr int kFirstOwn = 10;

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Descriptor raised(Descriptor low) {
  if (low.get() >= kFirstOwn) return low;
  Descriptor high(fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstOwn));
  if (!high.is_open()) throw_errno("cannot duplicate a descriptor");
  return high;
}

void throw_errno(const std::string& what, ExitCode code) {
  throw Error(code, what + ": " + std::strerror(errno));
}

DescriptorPair make_socket_pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    throw_errno("cannot make the control channel of a worker");
  }
  Descriptor first(fds[0]), second(fds[1]);
  return {raised(std::move(first)), raised(std::move(second))};
}

DescriptorPair make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) throw_errno("cannot make a pipe for the output of a worker");
  Descriptor first(fds[0]), second(fds[1]);
  if (fcntl(first.get(), F_SETFL, O_NONBLOCK) != 0) throw_errno("cannot set up a pipe");
  return {raised(std::move(first)), raised(std::move(second))};
}

Descriptor open_null() {
  Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.is_open()) throw_errno("cannot open /dev/null");
  return raised(std::move(null));
}

}  // namespace falcon::launch
