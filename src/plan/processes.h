// Placement when the processes of the ranks are there already: torchrun, mpirun and srun start one
// a rank, and may have given each its own GPUs and CPUs. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "falconbench/system_file.h"
#include "plan/placement.h"

namespace falcon::plan {

/// What one process of this host may use.
struct ProcessView {
  int rank = 0;  // global
  std::vector<Gpu> gpus;
  std::vector<int> cpus;
};

/// The host as all its processes together may use it: a process that a scheduler shut in sees less.
void admit(Host& host, const std::vector<ProcessView>& processes);

struct PlacedProcesses {
  Placement placement;          // in the order of the processes
  std::vector<RankPlan> ranks;  // likewise, with their global ranks and host.hostname
};

/// Processes that see the same GPUs get those of the topology in order, the n-th on this host the
/// n-th; one that sees others gets the first of the topology that it sees and nobody has yet. One
/// with CPUs of its own keeps them. REQUIRES: admit(host, processes). Throws as place(), and
/// Error(kHost) when there are fewer GPUs than processes.
PlacedProcesses place_processes(const NameOrList& topology,
                                const std::vector<ProcessView>& processes, const Host& host,
                                const SystemFile& system,
                                std::optional<std::int64_t> decode_threads);

/// What one host brings to a run on several.
struct HostShare {
  const Host* host = nullptr;
  std::vector<std::string> names;  // of its devices
  std::vector<RankPlan> ranks;
  std::string name;                // unique in the run
  const Places* places = nullptr;  // of its devices, beside ranks
};
/// Placement and ranks of all hosts as one, in the order of the ranks: `hosts` outlives it. Where
/// devices are declared to be stands in the places of each host.
PlacedProcesses joined(const std::vector<HostShare>& hosts);

}  // namespace falcon::plan
