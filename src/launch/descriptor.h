// An owned file descriptor, and the pairs that launcher and worker talk over. Everything is opened
// close-on-exec; a child gets only what launch/process.cpp hands to it.
#pragma once
#include <string>
#include <utility>

#include "falconbench/errors.h"

namespace falcon::launch {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

struct DescriptorPair {
  Descriptor first, second;
};

/// Throws Error(code) with `what` and the text of errno.
[[noreturn]] void throw_errno(const std::string& what, ExitCode code = ExitCode::kHost);

/// The same under a number that those which a child gets cannot overwrite. Throws Error(kHost).
Descriptor raised(Descriptor low);

/// Two connected stream sockets, both ways, blocking. All of these throw Error(kHost).
DescriptorPair make_socket_pair();
/// first reads (not blocking), second writes (blocking).
DescriptorPair make_pipe();
/// /dev/null for reading.
Descriptor open_null();

}  // namespace falcon::launch
