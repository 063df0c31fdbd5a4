#include "launch/crew.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include <sys/random.h>
#include <sys/socket.h>

#include "base/revision.h"
#include "base/text.h"
#include "falconbench/clock.h"

namespace falcon::launch {
namespace {

constexpr double kHelloSeconds = 10;  // from a connection to its first message
constexpr double kTryAgainSeconds = 0.1;
constexpr double kRefuseSeconds = 3;  // for those who have not come yet when all is over
constexpr double kAliveSeconds = 5;
constexpr std::size_t kTokenBytes = 16;

std::string random_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error(ExitCode::kInternal, "getrandom failed");
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first message, or nothing when none comes or the wrong one. `rest`: what came with it.
std::optional<HostHello> hello_of(ControlChannel& link, std::vector<Message>& rest) {
  Waiting waiting;
  waiting.until_s = steady_now_s() + kHelloSeconds;
  while (link.is_open() && waiting.poll_one(link.fd(), POLLIN)) {
    try {
      rest = link.receive();
      if (rest.empty()) continue;
      if (rest.front().type != MessageType::kHostHello) return {};
      const auto hello = body_of<HostHello>(rest.front());
      rest.erase(rest.begin());
      return hello;
    } catch (const Error&) {
      return {};  // not one of us
    }
  }
  return {};
}

// What was said is read before the connection goes: closed with something unread, it is reset, and
// the other side loses what it has not read.
void let_go(ControlChannel& link) {
  Waiting waiting;
  waiting.until_s = steady_now_s() + kRefuseSeconds;
  link.flush();
  ::shutdown(link.fd(), SHUT_WR);
  try {
    while (link.is_open() && waiting.poll_one(link.fd(), POLLIN)) link.receive();
  } catch (const Error&) {
    // nobody is interested any more
  }
  link.close();
}

[[noreturn]] void throw_refusal(const Message& message) {
  const auto refusal = body_of<Refusal>(message);
  throw Error(static_cast<ExitCode>(refusal.exit_code), refusal.message);
}

std::string agent_key(const Job& job) {
  return "falconbench/" + job.key.substr(0, 16) + "/head";
}

}  // namespace

MeetingPoint local_meeting_point() {
  MeetingPoint point;
  point.listener = listen_on("127.0.0.1", 0);
  point.port = point.listener.port;
  point.address = point.host;
  return point;
}

std::string own_version() {
  return std::string(base::version()) + " (" + base::revision() + ")";
}

std::string chosen_interface(const std::string& address) {
  for (const char* name : {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}) {
    if (!variable(name).empty()) return variable(name);
  }
  return interface_of(address);
}

Crew::Crew(const Job& job, const std::string& host_name)
    : job_(job), host_name_(host_name), door_(job) {}

Crew::~Crew() = default;

void Crew::gather(const Waiting& waiting, const AgentStore& agent_store) {
  joined_ = door_.gather(job_, waiting);
  has_gathered_ = true;
  for (const Joined& joined : joined_) {
    if (joined.join.rank != 0) continue;
    throw Error(ExitCode::kUsage, "rank 0 is local rank " + std::to_string(joined.join.local_rank) +
                                      " of its host " + host_name_ + "; it must be local rank 0");
  }
  if (job_.is_on_one_host()) return;
  is_head() ? gather_hosts(waiting, agent_store) : reach_head(waiting, agent_store);
}

std::vector<int> Crew::ranks() const {
  std::vector<int> ranks = {job_.rank};
  for (const Joined& joined : joined_) ranks.push_back(joined.join.rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

RemoteHost* Crew::host_of(int rank) const {
  for (const auto& host : hosts_) {
    if (host->has(rank)) return host.get();
  }
  return nullptr;
}

void Crew::gather_hosts(const Waiting& waiting, const AgentStore& agent_store) {
  const std::string token = job_.has_agent_store ? random_token() : job_.key;
  const Listener listener =
      listen_on(job_.master_address, job_.has_agent_store ? 0 : job_.master_port);
  if (job_.has_agent_store) {
    agent_store(agent_key(job_), std::to_string(listener.port) + " " + token);
  }
  auto known = static_cast<int>(ranks().size());
  while (known < job_.world) {
    if (!waiting.poll_one(listener.socket.get(), POLLIN)) {
      throw Error(ExitCode::kHost, "only hosts with " + std::to_string(known) + " of the " +
                                       std::to_string(job_.world) + " ranks have come to " +
                                       job_.master_address + " port " +
                                       std::to_string(listener.port));
    }
    const std::size_t before = hosts_.size();
    let_host_in(listener, token);
    if (hosts_.size() > before) known += static_cast<int>(hosts_.back()->ranks().size());
  }
  name_hosts();
  interface_ = chosen_interface(own_address());
}

void Crew::let_host_in(const Listener& listener, const std::string& token) {
  Descriptor socket = accept_from(listener);
  if (!socket.is_open()) return;
  ControlChannel link(std::move(socket));
  std::vector<Message> rest;
  const std::optional<HostHello> hello = hello_of(link, rest);
  if (!hello || hello->token != token) return;
  hosts_.push_back(std::make_unique<RemoteHost>(std::move(link), *hello));
  hosts_.back()->take(rest);
  hosts_.back()->link().say(MessageType::kAccept, Nothing{});
  const std::string who = base::printable(hello->name);
  if (hello->protocol != kProtocolVersion || hello->version != own_version()) {
    throw Error(ExitCode::kUsage, "host " + who + " runs falconbench " +
                                      base::printable(hello->version) + ", host " + host_name_ +
                                      " " + own_version());
  }
  const std::vector<int> own = ranks();
  for (const int rank : hello->ranks) {
    if (rank < 0 || rank >= job_.world) {
      throw Error(ExitCode::kUsage, "host " + who + " has rank " + std::to_string(rank) +
                                        ", but the job has " + std::to_string(job_.world) +
                                        " processes");
    }
    std::string other = std::find(own.begin(), own.end(), rank) != own.end() ? host_name_ : "";
    for (std::size_t i = 0; i + 1 < hosts_.size(); ++i) {
      if (hosts_[i]->has(rank)) other = hosts_[i]->name();
    }
    if (other.empty()) continue;
    const std::string both = other.append(" and on host ").append(who);
    throw Error(ExitCode::kUsage, "rank " + std::to_string(rank) + " is on host " + both);
  }
}

void Crew::name_hosts() {
  std::sort(hosts_.begin(), hosts_.end(),
            [](const auto& a, const auto& b) { return a->ranks() < b->ranks(); });
  std::map<std::string, int> times = {{host_name_, 1}};
  for (const auto& host : hosts_) ++times[host->name()];
  for (const auto& host : hosts_) {
    if (times[host->name()] == 1) continue;
    host->rename(host->name() + " (" + host->address() + ", rank " +
                 std::to_string(host->ranks().front()) + ")");
  }
}

std::string Crew::own_address() const {
  if (is_head()) return hosts_.empty() ? "" : local_address(hosts_.front()->link().socket());
  return head_ ? local_address(head_->socket()) : "";
}

void Crew::reach_head(const Waiting& waiting, const AgentStore& agent_store) {
  std::string token = job_.key;
  int port = job_.master_port;
  if (job_.has_agent_store) {
    const std::vector<std::string> told = base::split(agent_store(agent_key(job_), {}), ' ');
    if (told.size() != 2) {
      throw Error(ExitCode::kHost, "the store of torchrun's agent gave no address of the head");
    }
    port = std::atoi(told[0].c_str());
    token = told[1];
  }
  const HostHello hello{kProtocolVersion, token, own_version(), host_name_, ranks()};
  while (!is_let_in(hello, connect_to(job_.master_address, port, waiting), waiting)) {
    // somebody between the hosts may accept before the head listens
    if (waiting.poll({}, steady_now_s() + kTryAgainSeconds)) continue;
    throw Error(ExitCode::kHost, job_.master_address + " port " + std::to_string(port) +
                                     " does not let this host in: another run may listen there");
  }
  interface_ = chosen_interface(own_address());
}

bool Crew::is_let_in(const HostHello& hello, Descriptor socket, const Waiting& waiting) {
  head_.emplace(std::move(socket));
  head_->say(MessageType::kHostHello, hello);
  while (head_->is_open() && waiting.poll_one(head_->fd(), POLLIN)) {
    bool is_in = false;
    for (const Message& message : head_->receive()) {
      if (message.type == MessageType::kRefuse) throw_refusal(message);
      is_in = is_in || message.type == MessageType::kAccept;
    }
    if (is_in) return true;
  }
  return false;
}

void Crew::say_alive() {
  const std::lock_guard lock(alive_mutex_);
  const double now_s = steady_now_s();
  if (now_s < said_alive_s_ + kAliveSeconds) return;
  said_alive_s_ = now_s;
  for (const auto& host : hosts_) host->link().say(MessageType::kHostAlive, Nothing{});
  if (head_ && head_->is_open()) head_->say(MessageType::kHostAlive, Nothing{});
}

void Crew::take_offers(const HostOffer& own, const Waiting& waiting) {
  for (const auto& host : hosts_) {
    const HostOffer& offer = host->wait_for_offer(waiting);
    const std::string both = "hosts " + host_name_ + " and " + host->name();
    if (offer.spec_hash != own.spec_hash) {
      throw Error(ExitCode::kUsage, both + " were given different specs (spec hash " +
                                        own.spec_hash.substr(0, 12) + " and " +
                                        offer.spec_hash.substr(0, 12) +
                                        "); start the same command on every host");
    }
    if (offer.samples != own.samples || offer.classes != own.classes ||
        offer.validation != own.validation) {
      throw Error(ExitCode::kUsage, both + " have different data: " + std::to_string(own.samples) +
                                        " and " + std::to_string(offer.samples) + " samples of " +
                                        std::to_string(own.classes) + " and " +
                                        std::to_string(offer.classes) + " classes, " +
                                        std::to_string(own.validation) + " and " +
                                        std::to_string(offer.validation) + " to evaluate on");
    }
    if (offer.made != own.made) {
      throw Error(ExitCode::kUsage, both + " have different data of data.make: content hash " +
                                        own.made + " and " + offer.made);
    }
    if (offer.ranks.size() != host->ranks().size()) {
      throw Error(ExitCode::kInternal, host->name() + " offers another number of ranks");
    }
  }
  for (const auto& host : hosts_) host->align_clock(waiting);
}

HostPlan Crew::offer(const HostOffer& own, const Waiting& waiting) {
  HostOffer told = own;
  told.interface = interface_;
  head_->say(MessageType::kHostOffer, told);
  const double patience_s = waiting.until_s - steady_now_s();
  Waiting turn = waiting;
  while (head_->is_open()) {
    const std::size_t before = head_->bytes_read();
    if (!turn.poll_one(head_->fd(), POLLIN | (head_->wants_to_write() ? POLLOUT : 0))) {
      throw Error(ExitCode::kHang, "the launcher of the first host (" + job_.master_address +
                                       ") was not ready in time");
    }
    head_->flush();
    for (const Message& message : head_->receive()) {
      if (message.type == MessageType::kHostPlan) return body_of<HostPlan>(message);
      if (message.type == MessageType::kRefuse) throw_refusal(message);
      if (message.type != MessageType::kPing) continue;
      const auto ping = body_of<Ping>(message);
      head_->say(MessageType::kPong, Ping{ping.sent_s, steady_now_s()});
    }
    if (head_->bytes_read() != before) turn.until_s = steady_now_s() + patience_s;
  }
  throw Error(ExitCode::kHost,
              "the launcher of the first host (" + job_.master_address + ") is gone");
}

std::vector<RunHost> Crew::facts() const {
  RunHost own;
  own.name = host_name_;
  own.address = own_address();
  own.interface = interface_;
  own.ranks = ranks();
  own.clock_offset_s = own.clock_uncertainty_s = 0.0;
  std::vector<RunHost> all = {own};
  for (const auto& host : hosts_) all.push_back(host->facts());
  return all;
}

MeetingPoint Crew::make_meeting_point() const {
  if (job_.is_on_one_host()) return local_meeting_point();
  MeetingPoint point;
  point.host = job_.master_address;
  point.port = job_.master_port;
  if (!job_.has_agent_store) {
    point.listener = listen_on(job_.master_address, 0);
    point.port = point.listener.port;
  }
  point.address = own_address();
  point.interface = interface_;
  return point;
}

MeetingPoint Crew::meeting_point(const HostPlan& plan) const {
  MeetingPoint point;
  const bool is_agents = plan.store_port == 0;
  point.host = is_agents ? job_.master_address : plan.store_host;
  point.port = is_agents ? job_.master_port : plan.store_port;
  point.address = own_address();
  point.interface = interface_;
  return point;
}

void Crew::refuse(ExitCode code, const std::string& message) {
  if (!has_gathered_) {
    try {
      Waiting waiting;
      waiting.until_s = steady_now_s() + kRefuseSeconds;
      joined_ = door_.gather(job_, waiting);
    } catch (const Error&) {
      // who has not come yet finds nobody there
    }
  }
  for (Joined& joined : joined_) {
    if (joined.socket.is_open()) launch::refuse(joined, code, message);
  }
  const Refusal refusal{static_cast<int>(code), message};
  for (const auto& host : hosts_) {
    if (host->is_lost()) continue;
    host->link().say(MessageType::kRefuse, refusal);
    let_go(host->link());
  }
  if (!head_ || !head_->is_open()) return;
  head_->say(MessageType::kRefuse, refusal);
  let_go(*head_);
}

void Crew::dismiss(ExitCode code, const std::string& message) {
  for (const auto& host : hosts_) {
    if (host->is_lost()) continue;
    host->link().say(MessageType::kHostResult, Refusal{static_cast<int>(code), message});
    let_go(host->link());
  }
}

}  // namespace falcon::launch
