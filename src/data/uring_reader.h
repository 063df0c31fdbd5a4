// Reads of whole files by io_uring: the pieces of a file are all asked for at once.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace falcon::data {

struct UringRead {
  std::size_t bytes = 0;  // from the start on; fewer than wanted: the file ended
  int error = 0;          // errno; 0: none
};

/// One thread.
class UringReader {
 public:
  /// nullptr with `refusal` set where the kernel, or what this process is kept in, does not allow
  /// it.
  static std::unique_ptr<UringReader> make(std::string& refusal);
  ~UringReader();
  UringReader(const UringReader&) = delete;
  UringReader& operator=(const UringReader&) = delete;

  /// Fills `to` from the start of the file; returns when no read is in flight any more.
  UringRead read(int descriptor, std::span<std::byte> to);

 private:
  struct Ring;
  explicit UringReader(std::unique_ptr<Ring> ring);
  std::unique_ptr<Ring> ring_;
};

}  // namespace falcon::data
