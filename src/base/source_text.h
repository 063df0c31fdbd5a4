// Text of a file that a person wrote: UTF-8 without NUL bytes, and where in it something stands.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace falcon::base {

/// Line and column (1-based, columns count characters, not bytes) of byte offsets in one text.
class SourceText {
 public:
  /// Drops a UTF-8 byte order mark. Throws InputError, with line and column in `source`, on UTF-16,
  /// UTF-32, invalid UTF-8 and NUL bytes. The text must outlive this.
  SourceText(std::string_view text, std::string source);

  std::string_view text() const { return text_; }
  const std::string& source() const { return source_; }
  /// An offset behind the end is the end. Takes the same short time in a text of one long line.
  Mark mark_at(std::size_t offset) const;

 private:
  std::size_t characters_before(std::size_t offset) const;

  std::string_view text_;  // without the byte order mark
  std::string source_;
  std::vector<std::size_t> line_starts_;
  std::vector<std::size_t> block_characters_;  // characters before each block of bytes
};

}  // namespace falcon::base
