#include "launch/output_lines.h"

#include <cerrno>

#include <unistd.h>

#include "base/text.h"

namespace falcon::launch {
namespace {

constexpr std::size_t kKeptLines = 50;
constexpr std::size_t kMaxLineBytes = 4000;
constexpr std::size_t kChunkBytes = 64 << 10;  // a pipe holds this much
constexpr int kChunksPerTurn = 4;

}  // namespace

void OutputLines::receive() {
  char chunk[kChunkBytes];
  for (int i = 0; i < kChunksPerTurn && pipe_.is_open(); ++i) {
    const ssize_t size = read(pipe_.get(), chunk, sizeof chunk);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      pipe_.close();
      return;
    }
    partial_.append(chunk, static_cast<std::size_t>(size));
    split();
  }
}

void OutputLines::finish() {
  receive();
  pipe_.close();
  if (!partial_.empty()) add(partial_);
  partial_.clear();
}

void OutputLines::split() {
  std::string_view rest = partial_;
  while (!rest.empty()) {
    const std::size_t end = rest.substr(0, kMaxLineBytes).find('\n');
    if (end == std::string_view::npos && rest.size() < kMaxLineBytes) break;
    add(rest.substr(0, end == std::string_view::npos ? kMaxLineBytes : end));
    rest.remove_prefix(end == std::string_view::npos ? kMaxLineBytes : end + 1);
  }
  partial_.erase(0, partial_.size() - rest.size());
}

void OutputLines::add(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::string text = base::printable(line, 4 * kMaxLineBytes);
  if (last_.size() == kKeptLines) last_.pop_front();
  last_.push_back(text);
  if (on_line_) on_line_(text);
}

}  // namespace falcon::launch
