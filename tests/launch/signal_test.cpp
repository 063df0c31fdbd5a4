// A launcher that is interrupted, stopped or killed.
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/json.h"
#include "falconbench/clock.h"
#include "launch/process.h"
#include "launch/signals.h"
#include "launch_testing.h"

namespace falcon::launch {
namespace {

using testing::Each;
using testing::HasSubstr;

// launch_driver as a child, its output read line by line.
class Driver {
 public:
  Driver(int num_ranks, const std::vector<std::string>& words) {
    std::string command = std::string("exec ") + LAUNCH_DRIVER + " " + std::to_string(num_ranks);
    for (const std::string& word : words) command += " " + word;
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(fds[1], STDOUT_FILENO);
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      std::_Exit(127);
    }
    close(fds[1]);
    output_ = fdopen(fds[0], "r");
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() {
    fclose(output_);
    if (!was_reaped_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  std::string line() {
    std::string text;
    for (int c = std::fgetc(output_); c != EOF && c != '\n'; c = std::fgetc(output_)) {
      text.push_back(static_cast<char>(c));
    }
    return text;
  }
  std::vector<pid_t> read_workers(int count) {
    std::vector<pid_t> pids;
    for (int i = 0; i < count; ++i) pids.push_back(std::stoi(line().substr(7)));
    return pids;
  }
  RunLog read_log() {
    std::string text = line();
    while (!text.empty() && text[0] != '{') text = line();
    return base::from_value<RunLog>(base::parse_json(text, "driver"));
  }
  void send(int signal) { kill(pid_, signal); }
  /// Exit code, or minus the signal.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    was_reaped_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  FILE* output_ = nullptr;
  bool was_reaped_ = false;
};

// Within 5 s.
bool have_ended(const std::vector<pid_t>& pids) {
  const double until_s = steady_now_s() + 5;
  for (const pid_t pid : pids) {
    while (is_process_there(pid)) {
      if (steady_now_s() > until_s) return false;
      usleep(10000);
    }
  }
  return true;
}

class SignalTest : public LaunchTest {};

void expect_finished_early(int signal, int code) {
  Driver driver(2, {"steps=0"});
  const std::vector<pid_t> workers = driver.read_workers(2);
  driver.line();  // began
  driver.line();
  driver.send(signal);
  const RunLog log = driver.read_log();
  EXPECT_EQ(driver.wait(), code);
  EXPECT_EQ(log.status, "interrupted");
  EXPECT_EQ(log.exit_code, code);
  EXPECT_EQ(log.failure->kind, "interrupted");
  EXPECT_THAT(log.failure->message, HasSubstr(signal_name(signal)));
  ASSERT_EQ(log.records.size(), 2u);
  EXPECT_THAT(log.records, Each(testing::Ne(std::nullopt)));
  EXPECT_EQ(log.workers[0].ended, "exit code 0");
  EXPECT_TRUE(have_ended(workers));
}

TEST_F(SignalTest, SigintEndsTheRunAtACommonStepWithItsResults) {
  expect_finished_early(SIGINT, 130);
}

TEST_F(SignalTest, SigtermEndsTheRunAtACommonStepWithItsResults) {
  expect_finished_early(SIGTERM, 143);
}

TEST_F(SignalTest, AClosedTerminalEndsTheRunAtACommonStepWithItsResults) {
  Driver driver(1, {"steps=0"});
  driver.read_workers(1);
  driver.line();
  driver.send(SIGHUP);
  EXPECT_EQ(driver.read_log().status, "interrupted");
  EXPECT_EQ(driver.wait(), 143);
}

TEST_F(SignalTest, InSetUpThereIsNothingToWaitFor) {
  Driver driver(2, {"0=hang_build", "1=hang_build"});
  const std::vector<pid_t> workers = driver.read_workers(2);
  usleep(300000);
  const double before_s = steady_now_s();
  driver.send(SIGINT);
  const RunLog log = driver.read_log();
  EXPECT_EQ(driver.wait(), 130);
  EXPECT_LT(steady_now_s() - before_s, 2);
  EXPECT_EQ(log.status, "interrupted");
  EXPECT_THAT(log.records, Each(testing::Eq(std::nullopt)));
  EXPECT_TRUE(have_ended(workers));
}

TEST_F(SignalTest, ASecondSigintEndsEverythingAtOnce) {
  Driver driver(2, {"steps=0", "0=deaf"});
  const std::vector<pid_t> workers = driver.read_workers(2);
  driver.line();
  driver.line();
  driver.send(SIGINT);
  usleep(200000);
  const double before_s = steady_now_s();
  driver.send(SIGINT);
  const RunLog log = driver.read_log();
  EXPECT_EQ(driver.wait(), 130);
  EXPECT_LT(steady_now_s() - before_s, 1.5);
  EXPECT_EQ(log.status, "interrupted");
  EXPECT_EQ(log.workers[0].ended, "killed by SIGKILL");
  EXPECT_TRUE(have_ended(workers));
}

TEST_F(SignalTest, AKilledLauncherTakesItsWorkersWithIt) {
  for (const char* script : {"steps=0", "all=mute", "0=stop"}) {
    Driver driver(2, {"steps=0", script});
    const std::vector<pid_t> workers = driver.read_workers(2);
    usleep(300000);
    driver.send(SIGKILL);
    EXPECT_EQ(driver.wait(), -SIGKILL);
    EXPECT_TRUE(have_ended(workers)) << script;
  }
}

TEST_F(SignalTest, AStoppedLauncherBlamesNobodyWhenItGoesOn) {
  Driver driver(2, {"steps=0"});
  driver.read_workers(2);
  driver.line();
  driver.line();
  driver.send(SIGSTOP);
  sleep(2);  // longer than a worker may be silent
  driver.send(SIGCONT);
  usleep(300000);
  driver.send(SIGINT);
  const RunLog log = driver.read_log();
  EXPECT_EQ(log.status, "interrupted") << log.failure->message;
  EXPECT_EQ(driver.wait(), 130);
}

void remember_nothing(int) {}

TEST_F(SignalTest, FormerHandlersAreBackAfterwards) {
  const auto former = signal(SIGINT, remember_nothing);
  {
    SignalWatch watch;
    EXPECT_THROW(SignalWatch(), Error);
    raise(SIGINT);
    raise(SIGTERM);
    EXPECT_THAT(watch.take(), testing::ElementsAre(SIGINT, SIGTERM));
    EXPECT_TRUE(watch.take().empty());
  }
  EXPECT_EQ(signal(SIGINT, former), remember_nothing);
}

TEST_F(SignalTest, SighupStaysIgnoredUnderNohup) {
  const auto former = signal(SIGHUP, SIG_IGN);
  {
    SignalWatch watch;
    raise(SIGHUP);
    EXPECT_TRUE(watch.take().empty());
  }
  EXPECT_EQ(signal(SIGHUP, former), SIG_IGN);
}

}  // namespace
}  // namespace falcon::launch
