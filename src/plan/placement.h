// Which devices a run gets: the topology of the spec against the GPUs of the host. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "falconbench/system_file.h"

namespace falcon::plan {

struct Placement {
  std::vector<DevicePlan> devices;  // in rank order
  std::vector<std::string>
      names;  // how the topology calls them: system-file name, else PCI address, else cpu
  std::vector<const Gpu*> gpus;            // beside devices; empty on the CPU
  std::vector<const SystemGpu*> declared;  // beside gpus; nullptr: not in the system file
  bool on_gpu() const { return !gpus.empty(); }
};

/// Throws InputError (exit 2) for a word that names nothing, a bare integer or the same GPU twice;
/// Error(kHost) when the set is known but this host lacks it, saying what is missing and what is
/// there. devices: how many of the set, in its order. GPUs of a named set that sit in one place
/// (the host, a drawer, a half of one) then follow each other, so that a ring of ranks leaves a
/// drawer once; a list is taken as it is written.
Placement place(const NameOrList& topology, std::optional<std::int64_t> devices, const Host& host,
                const SystemFile& system);

/// CPUs and threads for each rank: CPUs of the GPU's NUMA node shared by the ranks on that node,
/// all allowed CPUs where the node is unknown; thread counts keep to the container's quota.
std::vector<RankPlan> bind_ranks(const Placement& placement, const Host& host,
                                 std::optional<std::int64_t> decode_threads);

/// One rank with the devices, CPUs and threads of all.
RankPlan joined(const std::vector<RankPlan>& ranks);

}  // namespace falcon::plan
