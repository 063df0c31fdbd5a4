#include "launch/outpost.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "falconbench/clock.h"

namespace falcon::launch {
namespace {

// Parts of stop_grace_s at which the orders become harder, as the supervisor's.
constexpr double kTermAfter = 0.2;
constexpr double kKillAfter = 0.7;
constexpr double kHeldUpSeconds = 1;

}  // namespace

Outpost::Outpost(const Plan& plan, const LaunchOptions& options, MeetingPoint meeting,
                 SignalWatch& signals)
    : options_(options),
      signals_(signals),
      head_(options.crew->head()),
      fleet_options_(options),
      fleet_(plan, fleet_options_, std::move(meeting)),
      heard_s_(steady_now_s()) {}

ExitCode Outpost::serve(const std::function<HostSight()>& sight, std::string& message) {
  start_workers();
  while (!is_over()) {
    const double wake_s = std::max(next_wake_s(), steady_now_s());
    const int events = POLLIN | (head_.wants_to_write() ? POLLOUT : 0);
    const pollfd others[] = {{signals_.fd(), POLLIN, 0},
                             {head_.fd(), static_cast<short>(events), 0}};
    fleet_.wait(wake_s, others);
    const double now_s = steady_now_s();
    if (now_s > wake_s + kHeldUpSeconds) heard_s_ += now_s - wake_s;
    hear_head(now_s);
    for (Worker& worker : fleet_.workers()) {
      if (!worker.process->is_running()) continue;
      hear(worker);
      worker.output.receive();
      reap(worker);
    }
    read_signals();
    check_head(now_s);
    advance(now_s);
    if (is_asked_to_finish_ && !fleet_.is_any_running()) {
      is_asked_to_finish_ = false;
      has_finished_ = true;
      head_.say(MessageType::kHostSight, sight());
    }
  }
  message = result_->message;
  return static_cast<ExitCode>(result_->exit_code);
}

void Outpost::start_workers() {
  fleet_options_.on_log = [this](int rank, const std::string& line) {
    head_.say(MessageType::kHostLine, HostLine{rank, line});
    if (options_.on_log) options_.on_log(rank, line);
  };
  for (const int rank : options_.crew->ranks()) {
    try {
      fleet_.start(rank);
      head_.say(MessageType::kHostStarted,
                HostStarted{rank, fleet_.workers().back().process->pid()});
    } catch (const Error& error) {
      head_.say(MessageType::kRefuse, Refusal{static_cast<int>(error.code()), error.what()});
      return;
    }
  }
}

void Outpost::hear_head(double now_s) {
  if (!head_.is_open()) return;
  head_.flush();
  const std::size_t before = head_.bytes_read();
  try {
    for (const Message& message : head_.receive()) obey(message);
  } catch (const Error& error) {
    return give_up(ExitCode::kWorker, error.what(), now_s);
  }
  if (head_.bytes_read() != before) heard_s_ = steady_now_s();
}

void Outpost::obey(const Message& message) {
  switch (message.type) {
    case MessageType::kPing:
      head_.say(MessageType::kPong, Ping{body_of<Ping>(message).sent_s, steady_now_s()});
      return;
    case MessageType::kHostWord: {
      auto word = body_of<HostWord>(message);
      const MessageType type = type_named(word.type);
      Worker& worker = fleet_.of_rank(word.rank);
      if (type == MessageType::kAbort) worker.is_told_to_end = true;
      if (worker.channel->is_open()) worker.channel->send(type, std::move(word.body));
      return;
    }
    case MessageType::kHostSignal: {
      const auto told = body_of<HostSignal>(message);
      fleet_.of_rank(told.rank).process->signal_group(told.signal);
      return;
    }
    case MessageType::kHostFinish:
      is_asked_to_finish_ = true;
      return;
    case MessageType::kHostResult:
    case MessageType::kRefuse:
      result_ = body_of<Refusal>(message);
      return;
    default:
      throw Error(ExitCode::kWorker,
                  "the head sent \"" + std::string(name_of(message.type)) + "\"");
  }
}

void Outpost::hear(Worker& worker) {
  worker.channel->flush();
  try {
    for (Message& message : worker.channel->receive()) {
      observe(worker, message);
      head_.say(MessageType::kHostWord,
                HostWord{worker.rank, std::string(name_of(message.type)), std::move(message.body)});
    }
  } catch (const Error& error) {
    worker.channel->close();
    head_.say(MessageType::kRefuse, Refusal{static_cast<int>(ExitCode::kWorker), error.what()});
  }
}

void Outpost::observe(const Worker& worker, const Message& message) {
  const bool is_begin = message.type == MessageType::kMeasuringBegan;
  if (!is_begin && message.type != MessageType::kMeasuringEnded) return;
  const auto& callback = is_begin ? options_.on_measuring_began : options_.on_measuring_ended;
  if (callback) callback(worker.rank, body_of<Moment>(message).time_s);
}

void Outpost::reap(Worker& worker) {
  if (!worker.process->reap()) return;
  hear_the_rest(worker, [this](Worker& ended) { hear(ended); });
  head_.say(MessageType::kHostEnded, HostEnded{worker.rank, *worker.process->end()});
}

void Outpost::read_signals() {
  for (const int signal : signals_.take()) {
    if (is_interrupted_) {
      fleet_.signal_all(SIGKILL);
      continue;
    }
    is_interrupted_ = true;
    head_.say(MessageType::kHostSignal, HostSignal{-1, signal});
  }
}

void Outpost::check_head(double now_s) {
  if (is_on_its_own_) return;
  const std::string who = "the first host (" + options_.crew->job().master_address + ") ";
  if (result_) {
    // told to end before the workers have: the run was given up
    return give_up(static_cast<ExitCode>(result_->exit_code), result_->message, now_s);
  }
  if (!head_.is_open()) {
    return give_up(ExitCode::kWorker, who + "closed the connection", now_s);
  }
  if (now_s - heard_s_ < silence_limit_s()) return;
  char limit[32];
  std::snprintf(limit, sizeof limit, "%.3g s", now_s - heard_s_);
  give_up(ExitCode::kHang, who + "has given no sign of life for " + limit, now_s);
}

void Outpost::give_up(ExitCode code, const std::string& why, double now_s) {
  is_on_its_own_ = true;
  if (!result_) result_ = Refusal{static_cast<int>(code), why};
  head_.close();
  fleet_.order_end(why);
  term_s_ = now_s + kTermAfter * options_.limits.stop_grace_s;
  kill_s_ = now_s + kKillAfter * options_.limits.stop_grace_s;
  abandon_s_ = now_s + options_.limits.stop_grace_s;
}

void Outpost::advance(double now_s) {
  if (now_s >= term_s_) {
    fleet_.signal_all(SIGTERM);
    term_s_ = kNever;
  }
  if (now_s >= kill_s_) {
    fleet_.signal_all(SIGKILL);
    kill_s_ = kNever;
  }
  if (now_s < abandon_s_) return;
  for (Worker& worker : fleet_.workers()) {
    if (worker.process->is_running()) worker.process->give_up();
  }
}

double Outpost::next_wake_s() const {
  if (is_on_its_own_) return std::min({term_s_, kill_s_, abandon_s_});
  return heard_s_ + silence_limit_s();
}

// In the end the head writes the report, and does not look this way meanwhile.
double Outpost::silence_limit_s() const {
  return has_finished_ ? options_.limits.setup_timeout_s : options_.limits.alive_timeout_s;
}

bool Outpost::is_over() const {
  return is_on_its_own_ && !fleet_.is_any_running();
}

}  // namespace falcon::launch
