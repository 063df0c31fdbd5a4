#include "platform/dump/captured_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/text.h"

namespace falcon::platform {
namespace {

constexpr std::string_view kBlanks = " \t";

void append_utf8(std::uint32_t code, std::string& text) {
  const auto tail = [&text](std::uint32_t bits) {
    text += static_cast<char>(0x80U | (bits & 0x3FU));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | (code >> 6U));
    tail(code);
  } else if (code >= 0xD800 && code < 0xE000) {
    text += '?';  // half of a pair: no output has such characters
  } else {
    text += static_cast<char>(0xE0U | (code >> 12U));
    tail(code >> 6U);
    tail(code);
  }
}

std::string from_utf16(std::string_view bytes, bool is_little) {
  std::string text;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    append_utf8(is_little ? first | second << 8U : second | first << 8U, text);
  }
  return text;
}

// Lines with their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

bool is_blank(std::string_view line) {
  return base::trim(line).empty();
}

bool is_fence(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(kBlanks), line.size())).starts_with("```");
}

void remove_quotation(std::vector<std::string_view>& lines) {
  const bool is_quoted =
      std::any_of(lines.begin(), lines.end(), [](auto line) { return !is_blank(line); }) &&
      std::all_of(lines.begin(), lines.end(),
                  [](auto line) { return is_blank(line) || line.starts_with('>'); });
  if (!is_quoted) return;
  for (std::string_view& line : lines) {
    if (line.starts_with('>')) line.remove_prefix(line.starts_with("> ") ? 2 : 1);
  }
}

void remove_indentation(std::vector<std::string_view>& lines) {
  std::optional<std::string_view> shared;
  for (const std::string_view line : lines) {
    if (is_blank(line)) continue;
    if (!shared) shared = line.substr(0, line.find_first_not_of(kBlanks));
    const auto [end, other] =
        std::mismatch(shared->begin(), shared->end(), line.begin(), line.end());
    shared = shared->substr(0, static_cast<std::size_t>(end - shared->begin()));
  }
  if (!shared || shared->empty()) return;
  for (std::string_view& line : lines) {
    if (line.starts_with(*shared)) line.remove_prefix(shared->size());
  }
}

}  // namespace

std::string as_utf8(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE")) return from_utf16(bytes.substr(2), true);
  if (bytes.starts_with("\xFE\xFF")) return from_utf16(bytes.substr(2), false);
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = base::utf8_length(bytes);
    if (length == 0) {
      text += '?';
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string without_wrapping(std::string_view text) {
  std::vector<std::string_view> lines = lines_of(text);
  remove_quotation(lines);
  const bool has_end = text.ends_with('\n') || (!lines.empty() && is_fence(lines.back()));
  std::erase_if(lines, is_fence);
  remove_indentation(lines);
  std::string out;
  for (const std::string_view line : lines) out += line;
  if (!has_end && out.ends_with('\n')) out.pop_back();  // blanks of a line that was cut off
  return out;
}

}  // namespace falcon::platform
