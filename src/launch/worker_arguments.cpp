#include "launch/worker_arguments.h"

#include <charconv>
#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

#include "base/text.h"
#include "falconbench/errors.h"
#include "launch/descriptor.h"

namespace falcon::launch {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ExitCode::kUsage,
              "worker: " + what + " (falconbench starts its workers itself, see --help)");
}

int number(const std::string& option, const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    refuse(option + " takes a number, not \"" + base::printable(text) + "\"");
  }
  return value;
}

}  // namespace

std::vector<std::string> words_of(const WorkerArguments& arguments) {
  std::vector<std::string> words = {"worker", "--control-fd", std::to_string(arguments.control_fd)};
  if (arguments.listen_fd) {
    words.insert(words.end(), {"--listen-fd", std::to_string(*arguments.listen_fd)});
  }
  if (arguments.parent > 0) {
    words.insert(words.end(), {"--parent", std::to_string(arguments.parent)});
  } else {
    words.emplace_back("--joined");
  }
  words.insert(words.end(), arguments.extra.begin(), arguments.extra.end());
  return words;
}

WorkerArguments parse_worker_arguments(std::span<const std::string> words) {
  WorkerArguments arguments;
  if (words.empty() || words[0] != "worker") refuse("the first word must be \"worker\"");
  bool has_joined = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--joined") {
      has_joined = true;
      continue;
    }
    const bool is_known = word == "--control-fd" || word == "--listen-fd" || word == "--parent";
    if (!is_known) {
      arguments.extra.push_back(word);
      continue;
    }
    if (i + 1 == words.size()) refuse(word + " takes a number");
    const int value = number(word, words[++i]);
    if (word == "--control-fd") arguments.control_fd = value;
    if (word == "--listen-fd") arguments.listen_fd = value;
    if (word == "--parent") arguments.parent = value;
  }
  if (arguments.control_fd < 0) refuse("--control-fd is missing");
  if (arguments.parent <= 0 && !has_joined) refuse("--parent is missing");
  return arguments;
}

void bind_to_launcher(pid_t launcher) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) throw_errno("worker: cannot set PR_SET_PDEATHSIG");
  // the signal is not sent for a parent that ended before it was asked for
  if (getppid() != launcher) {
    throw Error(ExitCode::kWorker, "worker: the launcher (process " + std::to_string(launcher) +
                                       ") has ended before this worker started");
  }
}

}  // namespace falcon::launch
