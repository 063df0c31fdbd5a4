// Workers that another program (torchrun, mpirun, srun) started as processes: they find the
// launcher of their host by a local socket named by the run, and become workers of it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/host.h"
#include "launch/control_channel.h"
#include "launch/descriptor.h"
#include "launch/job.h"
#include "launch/waiting.h"
#include "launch/worker_process.h"

namespace falcon::launch {

/// What a process says when it joins.
struct Join {
  int protocol = 0;
  std::string version;  // of the program
  int rank = 0, local_rank = 0;
  std::vector<Gpu> gpus;  // that it may use, in PCI address order
  std::vector<int> cpus;  // likewise
};
template <class V>
void visit_fields(Join& j, V& v) {
  v.field("protocol", j.protocol, "kProtocolVersion of the process");
  v.field("version", j.version, "its program");
  v.field("rank", j.rank, "global rank");
  v.field("local_rank", j.local_rank, "rank on this host");
  v.field("gpus", j.gpus, "GPUs that it may use");
  v.field("cpus", j.cpus, "CPUs that it may use");
}

/// accept: the process becomes a worker with these variables.
struct Accept {
  std::vector<std::string> environment;  // NAME=VALUE
};
template <class V>
void visit_fields(Accept& a, V& v) {
  v.field("environment", a.environment, "variables to set");
}

/// A process that has joined, as the launcher holds it.
struct Joined {
  Join join;
  pid_t pid = 0;
  Descriptor socket;
  Descriptor output;  // reads what it writes to stdout and stderr
};

/// Where processes of this host join. Only those of the same user are let in.
class LocalDoor {
 public:
  /// Throws Error(kHost) when another launcher of the same run is on this host.
  explicit LocalDoor(const Job& job);

  /// The other processes of the job on this host, by rank. Throws Error(kHost) naming how many are
  /// missing when the time is over, Error(kUsage) when a program of another version came.
  std::vector<Joined> gather(const Job& job, const Waiting& waiting);

 private:
  std::optional<Joined> let_in();

  Descriptor socket_;
};

/// Says no to a process that has joined.
void refuse(Joined& joined, ExitCode code, const std::string& message);

/// In the process: joins, and becomes the worker by exec. Returns only with what to end with, and
/// the reason in `message`, when the launcher refuses or is gone.
ExitCode become_worker(const Job& job, Join join, const std::string& program_name,
                       const Waiting& waiting, std::string& message);

/// A process of this host that is nobody's child here. Its exit code is not known.
class JoinedProcess final : public WorkerProcess {
 public:
  explicit JoinedProcess(pid_t pid) : pid_(pid), pidfd_(open_peer(pid)) {}
  JoinedProcess(const JoinedProcess&) = delete;
  JoinedProcess& operator=(const JoinedProcess&) = delete;
  /// Kills it.
  ~JoinedProcess() override;

  pid_t pid() const override { return pid_; }
  bool is_running() const override { return !end_ && !is_given_up_; }
  int pidfd() const override { return pidfd_.get(); }
  const std::optional<ProcessEnd>& end() const override { return end_; }
  void signal_group(int signal) const override;
  bool reap() override;
  void give_up() override { is_given_up_ = true; }
  char state() const override;

 private:
  static Descriptor open_peer(pid_t pid);

  pid_t pid_;
  Descriptor pidfd_;
  std::optional<ProcessEnd> end_;
  bool is_given_up_ = false;
};

}  // namespace falcon::launch
