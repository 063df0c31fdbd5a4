#include "cli/helper_process.h"

#include <algorithm>
#include <array>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/engine_library.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "launch/process.h"

namespace falcon::cli {
namespace {

// What the child writes until it ends; stdout and stderr come in one stream.
std::string read_until_end(launch::Process& process, int fd, const Helper& helper,
                           const Patience* patience) {
  const double limit_s = steady_now_s() + helper.limit_s;
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    std::array<pollfd, 2> waiting = {pollfd{fd, POLLIN, 0},
                                     pollfd{patience == nullptr ? -1 : patience->fd(), POLLIN, 0}};
    const double now_s = steady_now_s();
    const double left_s = limit_s - now_s;
    const double wait_s = patience == nullptr ? left_s : std::min(left_s, patience->left_s(now_s));
    if (wait_s > 0) poll(waiting.data(), waiting.size(), static_cast<int>(wait_s * 1000) + 1);
    if (patience != nullptr) {
      try {
        patience->check();
      } catch (const Error&) {
        process.signal_group(SIGKILL);
        throw;
      }
    }
    if (left_s <= 0) {
      process.signal_group(SIGKILL);
      throw Error(ExitCode::kHang, helper.what + " did not answer within " +
                                       base::number_text(helper.limit_s) + " s");
    }
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count == 0) return text;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string answer_of(const Helper& helper, const Patience* patience) {
  launch::DescriptorPair pipe = launch::make_pipe();
  launch::ProcessStart start;
  start.executable = program_path();
  start.arguments = {"falconbench", "worker"};
  start.arguments.insert(start.arguments.end(), helper.words.begin(), helper.words.end());
  start.environment = launch::environment_with(helper.environment);
  start.output_fd = pipe.second.get();
  launch::Process process(start);
  pipe.second.close();
  const std::string text = read_until_end(process, pipe.first.get(), helper, patience);
  while (!process.reap()) {
    pollfd ended{process.pidfd(), POLLIN, 0};
    poll(&ended, process.pidfd() >= 0 ? 1 : 0, 50);
  }
  const std::string_view lines = base::trim(text);
  const std::string answer(lines.substr(lines.rfind('\n') + 1));
  if (!process.end()->is_clean() || answer.empty() || answer.front() != '{') {
    throw Error(ExitCode::kHost, helper.what + " failed (" + launch::to_text(*process.end()) +
                                     "): " + base::printable(lines, 2000));
  }
  return answer;
}

}  // namespace falcon::cli
