#include "launch/process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"

extern char** environ;

namespace falcon::launch {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// What the child gets, in the two forms that posix_spawn wants; every call can fail for want of
// memory only.
class SpawnPlan {
 public:
  explicit SpawnPlan(const ProcessStart& start) : null_(open_null()) {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    int error = add_files(start);
    if (error == 0) error = set_attributes();
    if (error != 0) fail(start, error);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  pid_t spawn(const ProcessStart& start) {
    const std::vector<char*> arguments = pointers(start.arguments);
    const std::vector<char*> environment = pointers(start.environment);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, start.executable.c_str(), &files_, &attributes_,
                                  arguments.data(), environment.data());
    if (error != 0) fail(start, error);
    return pid;
  }

 private:
  [[noreturn]] static void fail(const ProcessStart& start, int error) {
    throw Error(ExitCode::kHost,
                "cannot start " + start.executable + ": " + std::string(std::strerror(error)));
  }

  int add_files(const ProcessStart& start) {
    const int moves[][2] = {{null_.get(), STDIN_FILENO},
                            {start.output_fd, STDOUT_FILENO},
                            {start.output_fd, STDERR_FILENO},
                            {start.control_fd, kWorkerControlFd},
                            {start.listen_fd, kWorkerListenFd}};
    int first_closed = kWorkerControlFd;
    for (const auto& [from, to] : moves) {
      if (from < 0) continue;
      if (const int error = posix_spawn_file_actions_adddup2(&files_, from, to); error != 0) {
        return error;
      }
      first_closed = to + 1;
    }
    // also those that some library opened without close-on-exec
    return posix_spawn_file_actions_addclosefrom_np(&files_, first_closed);
  }

  int set_attributes() {
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGALRM, SIGUSR1,
                             SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU}) {
      sigaddset(&defaults, signal);
    }
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setpgroup(&attributes_, 0);
    return posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }

  Descriptor null_;
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

std::string_view name_of(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

}  // namespace

std::vector<std::string> environment_with(const std::vector<std::string>& assignments) {
  std::vector<std::string> out = assignments;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    bool is_replaced = false;
    for (const std::string& assignment : assignments) {
      is_replaced = is_replaced || name_of(assignment) == name_of(*variable);
    }
    if (!is_replaced) out.emplace_back(*variable);
  }
  return out;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string to_text(const ProcessEnd& end) {
  if (!end.unknown.empty()) return end.unknown;
  return end.by_signal ? "killed by " + signal_name(end.code)
                       : "exit code " + std::to_string(end.code);
}

char process_state(pid_t pid) {
  try {
    const std::string text =
        base::read_file("/proc/" + std::to_string(pid) + "/stat", ExitCode::kInternal, 4096);
    const std::size_t name_end = text.rfind(')');  // the name itself may hold brackets
    return name_end + 2 < text.size() ? text[name_end + 2] : '?';
  } catch (const Error&) {
    return '?';
  }
}

Descriptor open_pidfd(pid_t pid) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

Process::Process(const ProcessStart& start) : pid_(SpawnPlan(start).spawn(start)) {
  // a container's filter may refuse it; the end is then noticed by the closed channel
  pidfd_ = open_pidfd(pid_);
}

Process::~Process() {
  if (!is_running()) return;
  signal_group(SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Process::signal_group(int signal) const {
  // not reaped: neither the process nor its group id can belong to somebody else yet
  if (is_running()) kill(-pid_, signal);
}

bool Process::reap() {
  if (!is_running()) return false;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return false;
  }
  signal_group(SIGKILL);  // its children, before the group id can be used again
  int status = 0;
  rusage usage{};
  while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  ProcessEnd end;
  end.by_signal = WIFSIGNALED(status);
  end.code = end.by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  end.user_s = seconds(usage.ru_utime);
  end.system_s = seconds(usage.ru_stime);
  end.peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  end_ = end;
  pidfd_.close();
  return true;
}

char Process::state() const {
  if (!is_running()) return '?';
  return process_state(pid_);
}

}  // namespace falcon::launch
