#include "data/uring_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <liburing.h>

namespace falcon::data {
namespace {

constexpr unsigned kInFlight = 16;
constexpr std::size_t kPieceBytes = 128 * 1024;

struct Piece {
  std::size_t begin = 0, end = 0;  // what of the file is still to be read
};

}  // namespace

struct UringReader::Ring {
  io_uring ring{};
  bool is_open = false;

  ~Ring() { close(); }
  /// 0, or a negative errno.
  int open() {
    const int error = io_uring_queue_init(kInFlight, &ring, 0);
    is_open = error >= 0;
    return std::min(error, 0);
  }
  void close() {
    if (is_open) io_uring_queue_exit(&ring);
    is_open = false;
  }
};

namespace {

/// One file in work.
class FileRead {
 public:
  FileRead(io_uring& ring, int descriptor, std::span<std::byte> to)
      : ring_(ring), descriptor_(descriptor), to_(to), end_(to.size()) {}

  /// False when the ring cannot be used again: requests are left in it that were never handed over.
  bool run(UringRead& out) {
    for (Piece& piece : pieces_) ask_next(piece);
    while (in_flight_ > io_uring_sq_ready(&ring_) || (in_flight_ > 0 && is_whole_)) {
      const int submitted = is_whole_ ? io_uring_submit_and_wait(&ring_, 1) : wait();
      if (submitted < 0 && submitted != -EINTR && submitted != -EAGAIN && submitted != -EBUSY) {
        error_ = -submitted;
        is_whole_ = false;
      }
      take_done();
    }
    out = {end_, error_};
    return is_whole_;
  }

 private:
  int wait() {
    io_uring_cqe* done = nullptr;
    return io_uring_wait_cqe(&ring_, &done);
  }

  void ask(Piece& piece) {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);  // as many entries as pieces: never nullptr
    io_uring_prep_read(entry, descriptor_, to_.data() + piece.begin,
                       static_cast<unsigned>(piece.end - piece.begin), piece.begin);
    io_uring_sqe_set_data(entry, &piece);
    ++in_flight_;
  }

  void ask_next(Piece& piece) {
    if (next_ >= end_ || error_ != 0) return;
    piece = {next_, std::min(next_ + kPieceBytes, end_)};
    next_ = piece.end;
    ask(piece);
  }

  void take_done() {
    io_uring_cqe* done = nullptr;
    if (io_uring_peek_cqe(&ring_, &done) != 0) return;
    const int got = done->res;
    Piece& piece = *static_cast<Piece*>(io_uring_cqe_get_data(done));
    io_uring_cqe_seen(&ring_, done);
    --in_flight_;
    if (got < 0 && got != -EINTR && got != -EAGAIN) error_ = -got;
    if (got == 0) end_ = std::min(end_, piece.begin);  // the file became shorter meanwhile
    piece.begin += static_cast<std::size_t>(std::max(got, 0));
    if (error_ != 0) return;
    if (got != 0 && piece.begin < piece.end) {
      ask(piece);
    } else {
      ask_next(piece);
    }
  }

  io_uring& ring_;
  int descriptor_;
  std::span<std::byte> to_;
  std::array<Piece, kInFlight> pieces_;
  std::size_t next_ = 0;  // where the next piece begins
  std::size_t end_;       // of what is read
  unsigned in_flight_ = 0;
  int error_ = 0;
  bool is_whole_ = true;
};

}  // namespace

UringReader::UringReader(std::unique_ptr<Ring> ring) : ring_(std::move(ring)) {}
UringReader::~UringReader() = default;

std::unique_ptr<UringReader> UringReader::make(std::string& refusal) {
  auto ring = std::make_unique<Ring>();
  const int error = ring->open();
  if (error < 0) {
    refusal = "io_uring is refused: " + std::generic_category().message(-error);
    if (error == -EPERM || error == -ENOSYS) {
      refusal += " (containers often forbid it: seccomp, kernel.io_uring_disabled)";
    }
    return nullptr;
  }
  return std::unique_ptr<UringReader>(new UringReader(std::move(ring)));
}

UringRead UringReader::read(int descriptor, std::span<std::byte> to) {
  if (!ring_->is_open) return {0, ENXIO};
  UringRead out;
  if (FileRead(ring_->ring, descriptor, to).run(out)) return out;
  ring_->close();
  ring_->open();
  return out;
}

}  // namespace falcon::data
