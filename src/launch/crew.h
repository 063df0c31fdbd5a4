// The processes and hosts of a run that was started as several processes, seen from the launcher of
// one host. They come together in this order; where it stops, refuse() tells all that wait:
//
//   every host    gather()          the processes of this host
//   the head      gather()          the other hosts, over TCP at MASTER_ADDR:MASTER_PORT, or at a
//                                   port that the store of torchrun's agent tells
//   every host    plans by itself; others offer() it, the head takes their offers
//   the head      launch::run()     sends the plan; others get it from wait_for_plan()
//   the head      dismiss()         the run is over, with this exit code
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/errors.h"
#include "falconbench/run_hosts.h"
#include "launch/host_messages.h"
#include "launch/job.h"
#include "launch/joined.h"
#include "launch/network.h"
#include "launch/remote_host.h"
#include "launch/waiting.h"

namespace falcon::launch {

/// Publishes `value` under a key of the store of torchrun's agent, or waits for it and returns it.
using AgentStore =
    std::function<std::string(const std::string& key, const std::optional<std::string>& value)>;

/// Where the ranks meet, and by which address of this host others reach them.
struct MeetingPoint {
  std::string host = "127.0.0.1";
  int port = 0;
  Listener listener;  // bound once and kept, for the worker of rank 0, which serves the store; not
                      // open: it is served elsewhere
  std::string address;    // of this host, for Gloo
  std::string interface;  // that has it; empty for a run on one host
};

/// On this host alone.
MeetingPoint local_meeting_point();

class Crew {
 public:
  /// Lets other processes of this host in from now on. REQUIRES: job.local_rank is 0. Throws
  /// Error(kHost).
  Crew(const Job& job, const std::string& host_name);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  const Job& job() const { return job_; }
  bool is_head() const { return job_.rank == 0; }
  const std::string& host_name() const { return host_name_; }

  /// Waits for the other processes of this host, then for the other hosts or the head. agent_store
  /// is asked when job.has_agent_store and there are several hosts. Throws
  /// Error(kUsage) naming both when versions differ or a rank is there twice, Error(kHost) when
  /// somebody does not come, and what waiting.check() throws.
  void gather(const Waiting& waiting, const AgentStore& agent_store);

  /// Ranks of this host, in order.
  std::vector<int> ranks() const;
  std::vector<Joined>& joined() { return joined_; }
  /// The other hosts; only the head has them.
  const std::vector<std::unique_ptr<RemoteHost>>& hosts() const { return hosts_; }
  RemoteHost* host_of(int rank) const;
  /// All hosts, this one first. REQUIRES: the head.
  std::vector<RunHost> facts() const;

  /// To the others, who wait for it: this host is still making ready, or waits for one that is.
  /// Says so now and then, however often it is called. From any thread, while nothing else is said.
  void say_alive();

  /// The head: takes the offers of the others and compares them with its own. Throws Error(kUsage)
  /// naming the hosts that differ, HostError of a host that cannot.
  void take_offers(const HostOffer& own, const Waiting& waiting);
  /// Another host: says what it would do, and waits for the plan; the time of `waiting` begins anew
  /// with every sign of life. Throws Error with the head's reason when the run is refused, kHang
  /// when it says nothing.
  HostPlan offer(const HostOffer& own, const Waiting& waiting);
  ControlChannel& head() { return *head_; }

  /// Where the ranks meet: made by the head, told to the others as a port.
  MeetingPoint make_meeting_point() const;
  MeetingPoint meeting_point(const HostPlan& plan) const;

  /// To all that still wait: nothing comes of it.
  void refuse(ExitCode code, const std::string& message);
  /// The head: the run is over.
  void dismiss(ExitCode code, const std::string& message);

 private:
  void gather_hosts(const Waiting& waiting, const AgentStore& agent_store);
  void let_host_in(const Listener& listener, const std::string& token);
  void reach_head(const Waiting& waiting, const AgentStore& agent_store);
  bool is_let_in(const HostHello& hello, Descriptor socket, const Waiting& waiting);
  void name_hosts();
  std::string own_address() const;

  Job job_;
  std::string host_name_;
  LocalDoor door_;
  std::vector<Joined> joined_;
  bool has_gathered_ = false;
  std::vector<std::unique_ptr<RemoteHost>> hosts_;
  std::optional<ControlChannel> head_;
  std::mutex alive_mutex_;
  double said_alive_s_ = 0;
  std::string interface_;  // that leads to the other hosts
};

/// "0.1.0 (revision)": what hosts compare.
std::string own_version();
/// The interface that the user chose (GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME), else the one that
/// has the address.
std::string chosen_interface(const std::string& address);

}  // namespace falcon::launch
