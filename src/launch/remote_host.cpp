#include "launch/remote_host.h"

#include <utility>

#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "launch/network.h"

namespace falcon::launch {
namespace {

constexpr double kPingSeconds = 1;
constexpr int kAlignmentPings = 16;

class RemoteProcess final : public WorkerProcess {
 public:
  RemoteProcess(RemoteHost& host, int rank) : host_(host), rank_(rank) {}
  pid_t pid() const override { return host_.part(rank_).pid; }
  bool is_running() const override { return !end_ && !is_given_up_; }
  int pidfd() const override { return -1; }
  const std::optional<ProcessEnd>& end() const override { return end_; }
  void signal_group(int signal) const override {
    if (is_running()) host_.link().say(MessageType::kHostSignal, HostSignal{rank_, signal});
  }
  bool reap() override {
    if (!is_running() || !host_.part(rank_).end) return false;
    end_ = host_.part(rank_).end;
    return true;
  }
  void give_up() override { is_given_up_ = true; }
  char state() const override { return '?'; }

 private:
  RemoteHost& host_;
  int rank_;
  std::optional<ProcessEnd> end_;
  bool is_given_up_ = false;
};

class RemoteChannel final : public Channel {
 public:
  RemoteChannel(RemoteHost& host, int rank) : host_(host), rank_(rank) {}
  int fd() const override { return -1; }
  bool is_open() const override { return is_open_ && !host_.is_lost(); }
  bool wants_to_write() const override { return false; }
  void send(MessageType type, base::Value body) override {
    host_.link().say(MessageType::kHostWord,
                     HostWord{rank_, std::string(name_of(type)), std::move(body)});
  }
  void flush() override {}
  std::vector<Message> receive() override {
    std::deque<Message>& inbox = host_.part(rank_).inbox;
    std::vector<Message> messages(std::make_move_iterator(inbox.begin()),
                                  std::make_move_iterator(inbox.end()));
    inbox.clear();
    return messages;
  }
  std::size_t bytes_read() const override {
    const RemoteHost::Part& part = host_.part(rank_);
    return part.received - part.inbox.size();
  }
  void close() override { is_open_ = false; }

 private:
  RemoteHost& host_;
  int rank_;
  bool is_open_ = true;
};

}  // namespace

RemoteHost::RemoteHost(ControlChannel link, const HostHello& hello)
    : link_(std::move(link)),
      name_(hello.name),
      address_(peer_address(link_.socket())),
      ranks_(hello.ranks),
      heard_s_(steady_now_s()) {
  for (const int rank : ranks_) parts_[rank];
}

RunHost RemoteHost::facts() const {
  RunHost facts;
  facts.name = name_;
  facts.address = address_;
  facts.interface = offer_.interface;
  facts.ranks = ranks_;
  if (pongs_ > 0) {
    facts.clock_offset_s = offset_s_;
    facts.clock_uncertainty_s = shortest_trip_s_ / 2;
  } else {
    facts.clock_offset_s = facts.clock_uncertainty_s =
        Measured<double>::missing("the host did not answer");
  }
  return facts;
}

const HostOffer& RemoteHost::wait_for_offer(const Waiting& waiting) {
  const double patience_s = waiting.until_s - steady_now_s();
  Waiting turn = waiting;
  while (!has_offer_) {
    const std::size_t before = link_.bytes_read();
    const bool is_in_time = turn.poll_one(link_.fd(), POLLIN);
    receive(steady_now_s());
    if (link_.bytes_read() != before) turn.until_s = steady_now_s() + patience_s;
    if (refusal_) {
      throw HostError(static_cast<ExitCode>(refusal_->exit_code), name_, refusal_->message);
    }
    if (has_offer_) break;
    if (!link_.is_open()) throw HostError(ExitCode::kWorker, name_, "its launcher is gone");
    if (!is_in_time) throw HostError(ExitCode::kHang, name_, "it was not ready in time");
  }
  return offer_;
}

void RemoteHost::align_clock(const Waiting& waiting) {
  for (int i = 0; i < kAlignmentPings; ++i) {
    const int before = pongs_;
    link_.say(MessageType::kPing, Ping{steady_now_s(), 0});
    while (pongs_ == before) {
      const bool is_in_time = waiting.poll_one(link_.fd(), POLLIN);
      receive(steady_now_s());
      if (!link_.is_open()) throw HostError(ExitCode::kWorker, name_, "its launcher is gone");
      if (!is_in_time) throw HostError(ExitCode::kHang, name_, "it does not answer");
    }
  }
}

void RemoteHost::receive(double now_s) {
  if (is_lost_) return;
  link_.flush();
  const std::size_t before = link_.bytes_read();
  for (const Message& message : link_.receive()) obey(message, steady_now_s());
  if (link_.bytes_read() != before) heard_s_ = steady_now_s();
  if (has_offer_ && now_s >= next_ping_s()) {
    pinged_s_ = now_s;
    link_.say(MessageType::kPing, Ping{steady_now_s(), 0});
  }
}

void RemoteHost::take(const std::vector<Message>& messages) {
  for (const Message& message : messages) obey(message, steady_now_s());
}

double RemoteHost::next_ping_s() const {
  return is_lost_ ? std::numeric_limits<double>::infinity() : pinged_s_ + kPingSeconds;
}

void RemoteHost::obey(const Message& message, double now_s) {
  const auto part_of = [this](int rank) -> Part& {
    const auto found = parts_.find(rank);
    if (found != parts_.end()) return found->second;
    throw Error(ExitCode::kWorker,
                name_ + " speaks of rank " + std::to_string(rank) + ", which is not there");
  };
  switch (message.type) {
    case MessageType::kHostOffer:
      offer_ = body_of<HostOffer>(message);
      has_offer_ = true;
      pinged_s_ = now_s;
      return;
    case MessageType::kHostStarted: {
      const auto started = body_of<HostStarted>(message);
      part_of(started.rank).pid = static_cast<pid_t>(started.pid);
      return;
    }
    case MessageType::kHostWord: {
      auto word = body_of<HostWord>(message);
      Part& part = part_of(word.rank);
      if (word.body.is_null()) word.body = base::Value::object();
      part.inbox.push_back({type_named(word.type), std::move(word.body)});
      ++part.received;
      return;
    }
    case MessageType::kHostLine: {
      const auto line = body_of<HostLine>(message);
      part_of(line.rank).lines.push_back(line.line);
      return;
    }
    case MessageType::kHostEnded: {
      const auto ended = body_of<HostEnded>(message);
      part_of(ended.rank).end = ended.end;
      return;
    }
    case MessageType::kHostSignal:
      signal_ = body_of<HostSignal>(message).signal;
      return;
    case MessageType::kHostSight:
      sight_ = body_of<HostSight>(message);
      return;
    case MessageType::kHostAlive:
      return;
    case MessageType::kRefuse:
      refusal_ = body_of<Refusal>(message);
      return;
    case MessageType::kPong:
      return obey_pong(message, now_s);
    default:
      throw Error(ExitCode::kWorker, name_ + " sent \"" + std::string(name_of(message.type)) +
                                         "\", which a host does not send");
  }
}

// The answer was given between sending and now; the shorter that is, the better it is known when.
void RemoteHost::obey_pong(const Message& message, double now_s) {
  const auto pong = body_of<Ping>(message);
  const double trip_s = now_s - pong.sent_s;
  ++pongs_;
  if (trip_s >= shortest_trip_s_) return;
  shortest_trip_s_ = trip_s;
  offset_s_ = pong.answered_s - (pong.sent_s + now_s) / 2;
}

std::optional<Refusal> RemoteHost::take_refusal() {
  return std::exchange(refusal_, std::nullopt);
}

std::optional<int> RemoteHost::take_signal() {
  return std::exchange(signal_, std::nullopt);
}

void RemoteHost::lose(const std::string& why) {
  is_lost_ = true;
  link_.close();
  for (auto& [rank, part] : parts_) {
    if (part.end) continue;
    part.end = ProcessEnd{};
    part.end->unknown = why;
  }
}

Measured<HostSight> RemoteHost::wait_for_sight(const Waiting& waiting) {
  if (!is_lost_) link_.say(MessageType::kHostFinish, Nothing{});
  while (!is_lost_ && !sight_) {
    const bool is_in_time =
        waiting.poll_one(link_.fd(), POLLIN | (link_.wants_to_write() ? POLLOUT : 0));
    receive(steady_now_s());
    if (!link_.is_open() && !sight_) lose("its launcher is gone");
    if (!is_in_time) break;
  }
  if (sight_) return *sight_;
  return Measured<HostSight>::missing("the host did not send what it saw");
}

std::unique_ptr<WorkerProcess> RemoteHost::process_of(int rank) {
  return std::make_unique<RemoteProcess>(*this, rank);
}

std::unique_ptr<Channel> RemoteHost::channel_of(int rank) {
  return std::make_unique<RemoteChannel>(*this, rank);
}

}  // namespace falcon::launch
