#include "launch/control_channel.h"

#include <cerrno>

#include <sys/socket.h>

namespace falcon::launch {
namespace {

// A turn reads at most this much from one worker, so that a large message of one does not keep the
// signs of life of the others waiting.
constexpr std::size_t kChunkBytes = 64 << 10;
constexpr int kChunksPerTurn = 64;

bool is_later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

void ControlChannel::send(MessageType type, base::Value body) {
  unsent_ += encode(type, std::move(body));
  flush();
}

void ControlChannel::flush() {
  while (wants_to_write()) {
    const ssize_t sent =
        ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      // the worker is gone: its end is noticed when reading
      if (!is_later()) unsent_.clear();
      return;
    }
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
}

std::vector<Message> ControlChannel::receive() {
  std::vector<Message> messages;
  std::string chunk(kChunkBytes, '\0');
  for (int i = 0; i < kChunksPerTurn && is_open(); ++i) {
    const ssize_t size = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (size < 0 && is_later()) break;
    if (size <= 0) {
      socket_.close();
      break;
    }
    bytes_read_ += static_cast<std::size_t>(size);
    frames_.feed({chunk.data(), static_cast<std::size_t>(size)});
  }
  try {
    while (const auto payload = frames_.next()) messages.push_back(decode(*payload));
  } catch (const Error&) {
    socket_.close();
    throw;
  }
  return messages;
}

}  // namespace falcon::launch
