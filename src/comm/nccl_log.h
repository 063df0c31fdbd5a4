// What NCCL is told before it starts, and what its own log says of the transports it took.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <falconbench/measured.h>
#include <falconbench/plan_parts.h>
#include <falconbench/transports.h>

namespace falcon::comm {

/// Lines "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM" of NCCL's log, those of one direction, pair
/// and transport together, sorted.
std::vector<Transport> transports_in(std::string_view log);

/// One for a process, made before NCCL is first used, by the only thread that then reads or writes
/// the environment. Log and topology file are in memory, so none is left behind.
class NcclLog {
 public:
  /// Sets the plan's variables for this process. Throws Error(kInternal) when the kernel gives no
  /// memory for a file.
  explicit NcclLog(const NcclPlan& plan);
  ~NcclLog();
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;

  /// What was logged so far. Missing: the log is the user's, or it names no transport.
  Measured<std::vector<Transport>> transports() const;

 private:
  int log_fd_ = -1;
  int topology_fd_ = -1;
};

}  // namespace falcon::comm
