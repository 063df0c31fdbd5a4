// The output of one worker, line by line.
#pragma once
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/descriptor.h"

namespace falcon::launch {

class OutputLines {
 public:
  using OnLine = std::function<void(const std::string& line)>;
  /// `pipe` must not block. on_line gets every line without its end; control characters and bytes
  /// that are not UTF-8 arrive escaped, lines above 4000 bytes in pieces.
  OutputLines(Descriptor pipe, OnLine on_line)
      : pipe_(std::move(pipe)), on_line_(std::move(on_line)) {}
  /// A line that was read elsewhere.
  void take(std::string_view line) { add(line); }

  /// -1 after the end.
  int fd() const { return pipe_.get(); }
  /// Takes what is there, up to 256 KiB.
  void receive();
  /// After the end of the process: what is left, also a line without an end. A grandchild that
  /// still holds the pipe is not waited for.
  void finish();

  /// The last 50 lines.
  std::vector<std::string> last_lines() const { return {last_.begin(), last_.end()}; }

 private:
  void split();
  void add(std::string_view line);

  Descriptor pipe_;
  OnLine on_line_;
  std::string partial_;
  std::deque<std::string> last_;
};

}  // namespace falcon::launch
