// What `falconbench links` measures on a set of devices: the tasks that its workers get. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/links_work.h"
#include "falconbench/places.h"
#include "falconbench/plan.h"
#include "plan/placement.h"

namespace falcon::plan {

/// Copies by one process that has all devices: host memory alone on the CPU; on GPUs also each with
/// host memory, all of them at once, those on each shared uplink at once, and every ordered pair
/// with peer access and without.
LinkWork copy_work(const Placement& placement, const Host& host,
                   const std::vector<SharedUplink>& uplinks);

/// Collectives by one process a device. Sizes reach 1 GiB on GPUs, 16 MiB on the CPU.
LinkWork collective_work(bool on_gpu);

/// One rank with all devices.
Plan copy_plan(const Placement& placement, const Host& host);
/// One rank a device. Without peer_to_peer NCCL is told to stage through host memory.
Plan collective_plan(const Placement& placement, const Host& host, bool peer_to_peer);

/// "write from gpu0 to gpu1, peer to peer".
std::string text_of(const CopyTask& task, const std::vector<std::string>& names);

/// Between the same devices, in any direction and by any method, with peer access or without alike.
bool is_same_link(const CopyTask& a, const CopyTask& b);

/// Which task a worker was at that had done so many sizes of all; as many as tasks: all are done.
std::size_t task_at(const std::vector<CopyTask>& tasks, std::int64_t sizes_done);

}  // namespace falcon::plan
