// Another host of the run as the head holds it: the connection to its launcher, its clock, and its
// workers, which look to a supervisor like those of this host.
#pragma once
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/errors.h"
#include "falconbench/run_hosts.h"
#include "launch/control_channel.h"
#include "launch/host_messages.h"
#include "launch/waiting.h"
#include "launch/worker_process.h"

namespace falcon::launch {

/// A fault of one host of the run.
class HostError : public Error {
 public:
  HostError(ExitCode code, const std::string& host, const std::string& message)
      : Error(code, "host " + host + ": " + message), host_(host) {}
  const std::string& host() const { return host_; }

 private:
  std::string host_;
};

class RemoteHost {
 public:
  /// One worker of the host: what came from it and was not taken yet.
  struct Part {
    pid_t pid = 0;
    std::optional<ProcessEnd> end;
    std::deque<Message> inbox;
    std::size_t received = 0;
    std::vector<std::string> lines;
  };

  RemoteHost(ControlChannel link, const HostHello& hello);
  RemoteHost(const RemoteHost&) = delete;
  RemoteHost& operator=(const RemoteHost&) = delete;

  const std::string& name() const { return name_; }
  void rename(const std::string& name) { name_ = name; }
  const std::string& address() const { return address_; }
  const std::vector<int>& ranks() const { return ranks_; }
  bool has(int rank) const { return parts_.contains(rank); }
  Part& part(int rank) { return parts_.at(rank); }
  ControlChannel& link() { return link_; }
  RunHost facts() const;

  /// What it said it would do. The time of `waiting` begins anew with every sign of life. Throws
  /// what `waiting` throws, and HostError: with the host's reason when it cannot, kWorker when it
  /// is gone, kHang when it is not ready in time.
  const HostOffer& wait_for_offer(const Waiting& waiting);
  const HostOffer& offer() const { return offer_; }
  /// Several round trips, so that the shortest is a short one. Likewise.
  void align_clock(const Waiting& waiting);

  /// Its time on this host's steady clock.
  double here_s(double there_s) const { return there_s - offset_s_; }

  /// Takes in what has arrived, and asks for a sign of life when it is time. Throws Error(kWorker)
  /// on what is no message.
  void receive(double now_s);
  /// What came with its first message.
  void take(const std::vector<Message>& messages);
  double next_ping_s() const;
  double silent_s(double now_s) const { return now_s - heard_s_; }
  void forgive(double gap_s) { heard_s_ += gap_s; }
  /// Why its launcher gave up, once; what signal it was sent, once.
  std::optional<Refusal> take_refusal();
  std::optional<int> take_signal();

  /// The connection is of no more use: its workers count as ended.
  void lose(const std::string& why);
  bool is_lost() const { return is_lost_; }

  /// After its workers have ended: what its launcher saw.
  Measured<HostSight> wait_for_sight(const Waiting& waiting);

  std::unique_ptr<WorkerProcess> process_of(int rank);
  std::unique_ptr<Channel> channel_of(int rank);

 private:
  void obey(const Message& message, double now_s);
  void obey_pong(const Message& message, double now_s);

  ControlChannel link_;
  std::string name_, address_;
  std::vector<int> ranks_;
  std::map<int, Part> parts_;
  HostOffer offer_;
  bool has_offer_ = false;
  double offset_s_ = 0;
  double shortest_trip_s_ = std::numeric_limits<double>::infinity();
  int pongs_ = 0;
  double heard_s_ = 0, pinged_s_ = 0;
  bool is_lost_ = false;
  std::optional<Refusal> refusal_;
  std::optional<int> signal_;
  std::optional<HostSight> sight_;
};

}  // namespace falcon::launch
