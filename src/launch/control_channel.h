// The launcher's end of a worker's control channel. Never blocks: what does not fit into the socket
// waits here until poll() says that there is room.
#pragma once
#include <string>
#include <vector>

#include "launch/descriptor.h"
#include "launch/frames.h"
#include "launch/messages.h"

namespace falcon::launch {

class ControlChannel {
 public:
  explicit ControlChannel(Descriptor socket) : socket_(std::move(socket)) {}

  /// -1 once the other side has closed.
  int fd() const { return socket_.get(); }
  bool is_open() const { return socket_.is_open(); }
  bool wants_to_write() const { return is_open() && !unsent_.empty(); }

  /// Queues one frame and sends what fits.
  void send(const std::string& frame);
  void flush();
  /// Everything that has arrived. Closes at the end of the stream. Throws Error(kWorker) on bytes
  /// that are no message; the channel is closed then.
  std::vector<Message> receive();
  /// Bytes read so far: any of them is a sign of life.
  std::size_t bytes_read() const { return bytes_read_; }
  void close() { socket_.close(); }

 private:
  Descriptor socket_;
  FrameReader frames_;
  std::string unsent_;
  std::size_t bytes_read_ = 0;
};

}  // namespace falcon::launch
