#include "base/source_text.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::base {
namespace {

constexpr std::size_t kBlockBytes = 256;

bool is_first_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

bool starts_as_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  return text.size() >= 2 && (text[0] == '\0') != (text[1] == '\0');
}

[[noreturn]] void refuse(const Mark& mark, const std::string& message) {
  throw InputError({Fault{mark.source, mark.line, mark.column, "", message}});
}

}  // namespace

SourceText::SourceText(std::string_view text, std::string source)
    : text_(text), source_(std::move(source)), line_starts_{0} {
  if (starts_as_utf16(text)) refuse({source_, 1, 1}, "is UTF-16 or UTF-32 text, expected UTF-8");
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  block_characters_ = {0};
  for (std::size_t begin = 0; begin + kBlockBytes <= text_.size(); begin += kBlockBytes) {
    const std::string_view block = text_.substr(begin, kBlockBytes);
    const auto characters = std::count_if(block.begin(), block.end(), is_first_byte);
    block_characters_.push_back(block_characters_.back() + static_cast<std::size_t>(characters));
  }
  for (std::size_t i = 0; i < text_.size();) {
    const std::size_t length = utf8_length(text_.substr(i));
    if (length == 0) {
      char byte[8];
      std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(text_[i]));
      refuse(mark_at(i), "invalid UTF-8 (byte " + std::string(byte) + "), expected UTF-8 text");
    }
    if (text_[i] == '\0') refuse(mark_at(i), "holds a NUL byte, expected text");
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
    i += length;
  }
}

Mark SourceText::mark_at(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const std::size_t start = *std::prev(next);
  const std::size_t column = characters_before(offset) - characters_before(start) + 1;
  return Mark{source_, static_cast<int>(next - line_starts_.begin()), static_cast<int>(column)};
}

std::size_t SourceText::characters_before(std::size_t offset) const {
  const std::size_t block = offset / kBlockBytes;
  const std::string_view rest = text_.substr(block * kBlockBytes, offset % kBlockBytes);
  return block_characters_[block] +
         static_cast<std::size_t>(std::count_if(rest.begin(), rest.end(), is_first_byte));
}

}  // namespace falcon::base
