// Headings, lists and tables as plain text or Markdown.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace falcon::analysis {

using Rows = std::vector<std::vector<std::string>>;

/// How text is set. Each function ends what it makes with a newline; the first row of a table is
/// its head.
struct Style {
  std::function<std::string(const std::string&)> heading, paragraph, item;
  std::function<std::string(const Rows&)> table;
};

/// Columns are aligned with spaces: the first to the left, the others to the right.
Style plain_style();
/// Texts are escaped: they may hold names that a user gave.
Style markdown_style();

}  // namespace falcon::analysis
