#include "report/summary_lines.h"

#include <utility>

#include "base/text.h"

namespace falcon::report {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kIndent = 14;
constexpr std::size_t kMaxText = 2000;
constexpr const char* kRed = "\033[31m";
constexpr const char* kGreen = "\033[32m";
constexpr const char* kYellow = "\033[33m";
constexpr const char* kReset = "\033[0m";

}  // namespace

std::string not_available(const std::string& reason) {
  return "n/a (" + reason + ")";
}

std::string Lines::paint(const char* colour, const std::string& text) const {
  return use_colour_ && colour != nullptr ? colour + text + kReset : text;
}

void Lines::add_status(const std::string& status, const std::string& text) {
  out_ +=
      paint(status == "ok" ? kGreen : kRed, status) + "  " + base::printable(text, kMaxText) + "\n";
}

void Lines::add(const std::string& label, const std::string& text) {
  add_wrapped(label, nullptr, text);
}

void Lines::add_finding(const std::string& severity, const std::string& text) {
  add_wrapped(severity, severity == "invalid" ? kRed : kYellow, text);
}

void Lines::add_wrapped(const std::string& label, const char* colour, const std::string& text) {
  std::size_t column = kIndent;
  std::string padding(kIndent > label.size() + 2 ? kIndent - label.size() - 2 : 1, ' ');
  out_ += "  " + paint(colour, label) + padding;
  bool is_first = true;
  for (const std::string& word : base::split(base::printable(text, kMaxText), ' ')) {
    if (!is_first && column + 1 + word.size() > kColumns) {
      out_ += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    } else if (!is_first) {
      out_ += ' ';
      ++column;
    }
    out_ += word;
    column += word.size();
    is_first = false;
  }
  out_ += '\n';
}

}  // namespace falcon::report
