// A launcher as a process of its own, for tests that signal or kill it:
//   launch_driver NUM_RANKS WORD...
// Prints a line for every worker and for the measured window, then the log as one line of JSON; its
// exit code is that of the log.
#include <cstdio>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/json.h"
#include "launch_testing.h"

int main(int argc, char** argv) {
  using namespace falcon;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::vector<std::string> words(argv + 1, argv + argc);
  launch::LaunchOptions options = launch::options_of({words.begin() + 1, words.end()});
  options.limits.alive_timeout_s = 1.5;  // a test stops the launcher for longer
  options.on_started = [](int, pid_t pid) { std::printf("worker %d\n", static_cast<int>(pid)); };
  options.on_measuring_began = [](int rank, double) { std::printf("began %d\n", rank); };
  const RunLog log = launch::run(launch::plan_of(std::stoi(words.at(0))), options);
  std::printf("%s\n", base::to_json(base::to_value(log)).c_str());
  return log.exit_code;
}
