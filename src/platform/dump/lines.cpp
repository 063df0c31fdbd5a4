#include "platform/dump/lines.h"

#include <charconv>
#include <system_error>

#include "base/text.h"

namespace falcon::platform {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kBlanks = " \t";

// What follows the escape character: "[", numbers and semicolons, a letter.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[1] != '[') return 1;
  const std::size_t end = text.find_first_not_of("0123456789;?", 2);
  return end == std::string_view::npos ? text.size() : end + 1;
}

std::string cleaned(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == kEscape) {
      i += escape_length(line.substr(i));
    } else {
      out += line[i++];
    }
  }
  return out;
}

template <class Number>
std::optional<Number> leading(std::string_view text) {
  const std::string_view bare = base::trim(text);
  Number number = 0;
  if (std::from_chars(bare.data(), bare.data() + bare.size(), number).ec != std::errc()) return {};
  return number;
}

}  // namespace

std::vector<std::string> clean_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(cleaned(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> whole_lines(std::string_view text) {
  return clean_lines(text.substr(0, text.rfind('\n') + 1));
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<std::pair<std::string, std::string>> key_and_value(std::string_view line) {
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    if (colon + 1 < line.size() && kBlanks.find(line[colon + 1]) == std::string_view::npos)
      continue;
    return std::pair(std::string(base::trim(line.substr(0, colon))),
                     std::string(base::trim(line.substr(colon + 1))));
  }
  return {};
}

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(kBlanks), line.size());
}

std::optional<int> leading_number(std::string_view text) {
  return leading<int>(text);
}

std::optional<double> leading_real(std::string_view text) {
  return leading<double>(text);
}

std::string list_text(const std::vector<int>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(numbers[i]);
    if (last > i) out += '-' + std::to_string(numbers[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace falcon::platform
