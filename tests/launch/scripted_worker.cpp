// A worker that trains nothing: it speaks WorkerChannel and plays a script, so that the launcher
// can be tried with every way a worker may end.
//
//   scripted_worker worker --control-fd 3 ... [alive=0.05] [steps=10] [RANK=SCRIPT ...]
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "falconbench/clock.h"
#include "launch/worker_arguments.h"
#include "launch/worker_channel.h"

namespace {

using falcon::launch::WorkerChannel;

struct Script {
  falcon::launch::WorkerArguments arguments;
  std::map<std::string, std::string> words;
  std::string word(const std::string& name, const std::string& fallback) const {
    const auto found = words.find(name);
    return found == words.end() ? fallback : found->second;
  }
};

void sleep_s(double seconds) {
  usleep(static_cast<useconds_t>(1e6 * seconds));
}

[[noreturn]] void sleep_on() {
  while (true) pause();
}

// Rank 0 takes the others' connections on the inherited socket; when it closes them, they stop: a
// common last step without a communication library.
class Meeting {
 public:
  Meeting(const falcon::launch::WorkerArguments& arguments, const falcon::WorkerPlan& plan) {
    const std::size_t num_ranks = plan.plan.ranks.size();
    if (plan.rank == 0) {
      for (std::size_t i = 1; i < num_ranks; ++i) {
        fds_.push_back(accept(arguments.listen_fd.value(), nullptr, nullptr));
        if (fds_.back() < 0) throw std::runtime_error("accept failed");
      }
      return;
    }
    if (arguments.listen_fd) throw std::runtime_error("only rank 0 is given the socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(plan.store_port));
    inet_pton(AF_INET, plan.store_host.c_str(), &address.sin_addr);
    fds_.push_back(socket(AF_INET, SOCK_STREAM, 0));
    if (connect(fds_[0], reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot reach rank 0");
    }
  }
  void end() {
    for (const int fd : fds_) shutdown(fd, SHUT_RDWR);
  }
  bool has_ended() const {
    char byte = 0;
    return recv(fds_.at(0), &byte, 1, MSG_DONTWAIT) == 0;
  }

 private:
  std::vector<int> fds_;
};

// Ways to end in the middle of the measured steps.
void misbehave(const std::string& script, WorkerChannel& channel) {
  if (script == "throw") throw std::runtime_error("the loss is made of cheese: \xff");
  if (script == "exit3") std::_Exit(3);
  if (script == "exit0") std::_Exit(0);
  if (script == "abort") std::abort();
  if (script == "kill") raise(SIGKILL);
  if (script == "stop") raise(SIGSTOP);
  if (script == "hang") sleep_on();
  if (script == "talk_then_exit3") {
    for (int i = 0; i < 60; ++i) std::fprintf(stderr, "line %d\n", i);
    std::fprintf(stderr, "last \x1b[1m words");
    std::_Exit(3);
  }
  if (script == "flood") {
    const std::string line(200, 'x');
    for (int i = 0; i < 50000; ++i) std::fprintf(stderr, "%d %s\n", i, line.c_str());
  }
  if (script == "grandchild") {
    // holds the pipe and the channel open, and has no parent-death signal: that is not inherited
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGTERM, SIG_IGN);
      sleep_on();
    }
    std::fprintf(stderr, "%d\n", child);
  }
  if (script == "host_fault") {
    channel.send_failure("host", "no such GPU", falcon::ExitCode::kHost);
    std::_Exit(1);
  }
}

falcon::WorkerRecords records_of(const WorkerChannel& channel, std::int64_t steps) {
  falcon::WorkerRecords records;
  records.rank = channel.plan().rank;
  records.pid = getpid();
  records.measured_steps = steps;
  records.loss = {2.5, std::nullopt};
  return records;
}

void tear_down(const std::string& script) {
  if (script == "hang_teardown") sleep_on();
  if (script == "slow_shutdown") sleep_s(0.4);
  if (script == "exit7_after_records") std::_Exit(7);
}

void train(const Script& script, const std::string& play, WorkerChannel& channel) {
  channel.set_phase("connect");
  Meeting meeting(script.arguments, channel.plan());
  channel.set_phase("build");
  if (play == "hang_build") sleep_on();
  channel.set_phase("warm_up");
  std::int64_t step = 0;
  for (int i = 0; i < 2; ++i) channel.set_step(++step);
  channel.set_phase("measure");
  channel.measuring_began(falcon::steady_now_s());
  // 0: until somebody asks
  const std::int64_t planned = std::stol(script.word("steps", "10"));
  std::int64_t measured = 0;
  const bool is_first = channel.plan().rank == 0;
  while (planned == 0 || measured < planned) {
    if (is_first ? channel.stop_requested() && play != "deaf" : meeting.has_ended()) break;
    if (measured == 3) misbehave(play, channel);
    sleep_s(0.005);
    channel.set_step(++step);
    ++measured;
  }
  if (is_first) meeting.end();
  channel.measuring_ended(falcon::steady_now_s());
  channel.set_phase("finish");
  channel.send_records(records_of(channel, measured));
  channel.set_phase("tear_down");
  tear_down(play);
  channel.done();
}

void say(int fd, const std::string& frame) {
  if (write(fd, frame.data(), frame.size()) < 0) std::_Exit(9);
}

// Scripts that do not get as far as a channel.
void play_without_channel(const std::string& play, int fd) {
  if (play == "mute") sleep_on();
  if (play == "ignore_term") {
    signal(SIGTERM, SIG_IGN);
    sleep_on();
  }
  falcon::launch::Hello hello{falcon::launch::kProtocolVersion, getpid(), "here"};
  if (play == "old_version") {
    hello.protocol = 999;
    say(fd, falcon::launch::encoded(falcon::launch::MessageType::kHello, hello));
    sleep_on();
  }
  if (play == "nonsense") {
    say(fd, "GET / HTTP/1.1\r\n\r\n");
    sleep_on();
  }
  if (play == "close_channel") {
    say(fd, falcon::launch::encoded(falcon::launch::MessageType::kHello, hello));
    close(fd);
    sleep_on();
  }
}

Script script_of(const std::vector<std::string>& words) {
  Script script;
  script.arguments = falcon::launch::parse_worker_arguments(words);
  for (const std::string& word : script.arguments.extra) {
    const std::size_t equals = word.find('=');
    script.words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return script;
}

}  // namespace

int main(int argc, char** argv) {
  const Script script = script_of({argv + 1, argv + argc});
  falcon::launch::bind_to_launcher(script.arguments.parent);
  // which rank this is comes with the plan; scripts without a channel are for all ranks
  play_without_channel(script.word("all", ""), script.arguments.control_fd);
  WorkerChannel channel(script.arguments.control_fd, std::stod(script.word("alive", "0.05")));
  const std::string play = script.word(std::to_string(channel.plan().rank), "normal");
  try {
    if (script.word("show", "") == "start") {
      std::printf("order %s threads %s\n", std::getenv("CUDA_DEVICE_ORDER"),
                  std::getenv("OMP_NUM_THREADS"));
      std::fflush(stdout);
      for (int fd = 0; fd < 64; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0) std::fprintf(stderr, "fd %d\n", fd);
      }
    }
    train(script, play, channel);
  } catch (const std::exception& error) {
    channel.send_failure("exception", error.what());
    return 4;
  }
  return 0;
}
