// The log of the program: one spdlog logger on stderr, used by cli alone; what workers write comes
// in through it with their rank.
#pragma once
#include <string>

namespace falcon::cli {

class Progress;

class Log {
 public:
  /// quiet: errors only; verbose: everything. Colours only on a terminal and without NO_COLOR.
  Log(bool quiet, bool verbose);
  /// Lines clear the progress bar first. nullptr: there is none.
  void set_progress(Progress* progress) { progress_ = progress; }
  void info(const std::string& text);
  void warn(const std::string& text);
  void debug(const std::string& text);
  void worker(int rank, const std::string& line);

 private:
  void write(int level, const std::string& text);
  Progress* progress_ = nullptr;
};

bool stderr_is_terminal();
/// On a terminal, unless NO_COLOR is set.
bool colours_wanted(int fd);

}  // namespace falcon::cli
