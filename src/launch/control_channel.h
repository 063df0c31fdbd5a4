// The launcher's end of a worker's control channel: a socket, or a part of the connection to the
// launcher of the worker's host. The same socket end also carries what launchers say to each other.
#pragma once
#include <string>
#include <vector>

#include "launch/descriptor.h"
#include "launch/frames.h"
#include "launch/messages.h"

namespace falcon::launch {

class Channel {
 public:
  virtual ~Channel() = default;

  /// For poll(); -1: nothing to wait for here.
  virtual int fd() const = 0;
  virtual bool is_open() const = 0;
  virtual bool wants_to_write() const = 0;
  virtual void send(MessageType type, base::Value body) = 0;
  virtual void flush() = 0;
  /// Everything that has arrived. Throws Error(kWorker) on bytes that are no message; the channel
  /// is closed then.
  virtual std::vector<Message> receive() = 0;
  /// Rises with whatever arrives: any of it is a sign of life.
  virtual std::size_t bytes_read() const = 0;
  virtual void close() = 0;

  template <class T>
  void say(MessageType type, const T& body) {
    base::Value value = base::to_value(body);
    send(type, value.is_object() ? std::move(value) : base::Value::object());
  }
};

/// Never blocks: what does not fit into the socket waits here until poll() says that there is room.
class ControlChannel : public Channel {
 public:
  explicit ControlChannel(Descriptor socket) : socket_(std::move(socket)) {}

  /// -1 once the other side has closed.
  int fd() const override { return socket_.get(); }
  bool is_open() const override { return socket_.is_open(); }
  bool wants_to_write() const override { return is_open() && !unsent_.empty(); }

  void send(MessageType type, base::Value body) override;
  void flush() override;
  /// Closes at the end of the stream.
  std::vector<Message> receive() override;
  std::size_t bytes_read() const override { return bytes_read_; }
  void close() override { socket_.close(); }
  const Descriptor& socket() const { return socket_; }

 private:
  Descriptor socket_;
  FrameReader frames_;
  std::string unsent_;
  std::size_t bytes_read_ = 0;
};

}  // namespace falcon::launch
