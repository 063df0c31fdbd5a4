// Labelled lines of the summary, wrapped at 80 columns.
#pragma once
#include <string>

namespace falcon::report {

/// n/a (reason).
std::string not_available(const std::string& reason);

class Lines {
 public:
  explicit Lines(bool use_colour) : use_colour_(use_colour) {}
  /// First line: the status in front, green when ok, else red.
  void add_status(const std::string& status, const std::string& text);
  /// `  label       text`; text wraps between words under itself. Control characters in text are
  /// escaped: it may hold names that a user or a file gave.
  void add(const std::string& label, const std::string& text);
  /// Labelled by its severity, invalid in red and warning in yellow.
  void add_finding(const std::string& severity, const std::string& text);
  std::string take() { return std::move(out_); }

 private:
  void add_wrapped(const std::string& label, const char* colour, const std::string& text);
  std::string paint(const char* colour, const std::string& text) const;
  bool use_colour_;
  std::string out_;
};

}  // namespace falcon::report
