#include "analysis/text_table.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace falcon::analysis {
namespace {

/// Characters, not bytes.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    text.remove_prefix(std::max<std::size_t>(base::utf8_length(text), 1));
    ++width;
  }
  return width;
}

std::string plain_table(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_table(const Rows& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "|";
    for (const std::string& cell : rows[i]) text += " " + escaped(cell) + " |";
    text += "\n";
    if (i > 0) continue;
    text += "|---|";
    for (std::size_t column = 1; column < rows[i].size(); ++column) text += "---:|";
    text += "\n";
  }
  return text;
}

}  // namespace

Style plain_style() {
  return {[](const std::string& text) { return text + "\n"; },
          [](const std::string& text) { return "  " + text + "\n"; },
          [](const std::string& text) { return "    " + text + "\n"; }, plain_table};
}

Style markdown_style() {
  return {[](const std::string& text) { return "## " + escaped(text) + "\n\n"; },
          [](const std::string& text) { return "\n" + escaped(text) + "\n\n"; },
          [](const std::string& text) { return "- " + escaped(text) + "\n"; }, markdown_table};
}

}  // namespace falcon::analysis
