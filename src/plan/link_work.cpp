#include "plan/link_work.h"

#include <algorithm>
#include <utility>

#include "plan/make.h"
#include "plan/nccl.h"

namespace falcon::plan {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;

Sizes copy_sizes() {
  return {kLatencyBytes, 4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, 256 * kMiB};
}

void add_pair(int source, int target, bool peer_to_peer, std::vector<CopyTask>& tasks) {
  const std::vector<LinkFlow> forth = {{source, target}};
  tasks.push_back({forth, "write", peer_to_peer, copy_sizes()});
  tasks.push_back({forth, "read", peer_to_peer, copy_sizes()});
  if (source < target) {  // the opposite pair's figure is the same
    const std::vector<LinkFlow> both = {{source, target}, {target, source}};
    tasks.push_back({both, "write", peer_to_peer, {kMiB, 16 * kMiB, 256 * kMiB}});
    tasks.push_back({both, "read", peer_to_peer, {kMiB, 16 * kMiB, 256 * kMiB}});
  }
  if (!peer_to_peer) return;
  tasks.push_back({forth, "kernel_write", true, {kMiB, 256 * kMiB}});
  tasks.push_back({forth, "kernel_read", true, {kMiB, 256 * kMiB}});
  tasks.push_back({forth, "load", true, {sizeof(std::uint64_t)}});
}

void add_host_copies(int gpus, std::vector<CopyTask>& tasks) {
  for (int gpu = 0; gpu < gpus; ++gpu) {
    tasks.push_back({{{kHostMemory, gpu}}, "host_to_device", false, copy_sizes()});
    tasks.push_back({{{gpu, kHostMemory}}, "device_to_host", false, copy_sizes()});
  }
}

void add_host_copies_together(const std::vector<int>& gpus, std::vector<CopyTask>& tasks) {
  CopyTask up{{}, "host_to_device", false, {256 * kMiB}};
  CopyTask down{{}, "device_to_host", false, {256 * kMiB}};
  for (const int gpu : gpus) {
    up.flows.push_back({kHostMemory, gpu});
    down.flows.push_back({gpu, kHostMemory});
  }
  tasks.push_back(std::move(up));
  tasks.push_back(std::move(down));
}

/// Sets of GPUs that copy at once: those of each uplink, and all.
std::vector<std::vector<int>> groups_of(const Placement& placement,
                                        const std::vector<SharedUplink>& uplinks) {
  std::vector<std::vector<int>> groups;
  const auto add = [&groups](std::vector<int> group) {
    const bool is_new = std::find(groups.begin(), groups.end(), group) == groups.end();
    if (group.size() > 1 && is_new) groups.push_back(std::move(group));
  };
  std::vector<int> all;
  for (std::size_t i = 0; i < placement.names.size(); ++i) all.push_back(static_cast<int>(i));
  for (const SharedUplink& uplink : uplinks) {
    std::vector<int> group;
    for (const int gpu : all) {
      const std::string& name = placement.names[static_cast<std::size_t>(gpu)];
      const auto& sharers = uplink.devices;
      if (std::find(sharers.begin(), sharers.end(), name) != sharers.end()) group.push_back(gpu);
    }
    add(std::move(group));
  }
  add(std::move(all));
  return groups;
}

Plan empty_plan() {
  Plan plan;
  plan.run_id = new_run_id();
  return plan;
}

std::string place_text(int device, const std::vector<std::string>& names) {
  return device == kHostMemory ? "host memory" : names.at(static_cast<std::size_t>(device));
}

}  // namespace

LinkWork copy_work(const Placement& placement, const Host& host,
                   const std::vector<SharedUplink>& uplinks) {
  LinkWork work;
  work.copies.push_back({{LinkFlow{}},
                         "memcpy",
                         false,
                         {kLatencyBytes, 4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, 64 * kMiB}});
  if (!placement.on_gpu()) return work;
  const int gpus = static_cast<int>(placement.gpus.size());
  for (const RankPlan& rank : bind_ranks(placement, host, {})) {
    work.near_cpus.push_back(rank.numa_node.has_value() ? rank.cpus : std::vector<int>());
  }
  add_host_copies(gpus, work.copies);
  for (const auto& group : groups_of(placement, uplinks)) {
    add_host_copies_together(group, work.copies);
  }
  for (const bool peer_to_peer : {true, false}) {  // switched over once
    for (int source = 0; source < gpus; ++source) {
      for (int target = 0; target < gpus; ++target) {
        if (source != target) add_pair(source, target, peer_to_peer, work.copies);
      }
    }
  }
  return work;
}

LinkWork collective_work(bool on_gpu) {
  Sizes sizes;
  for (std::int64_t bytes = kKiB; bytes <= (on_gpu ? 1024 * kMiB : 16 * kMiB); bytes *= 4) {
    sizes.push_back(bytes);
  }
  if (on_gpu) sizes.push_back(25 * kMiB);  // a bucket of gradients
  std::sort(sizes.begin(), sizes.end());
  LinkWork work;
  for (const char* operation : {"all_reduce", "all_gather", "reduce_scatter", "broadcast"}) {
    work.collectives.push_back({operation, sizes});
  }
  return work;
}

Plan copy_plan(const Placement& placement, const Host& host) {
  Plan plan = empty_plan();
  RankPlan rank = bind_ranks(placement, host, {}).front();
  rank.devices = placement.devices;
  rank.cpus = host.cpu.allowed;
  plan.ranks = {std::move(rank)};
  return plan;
}

Plan collective_plan(const Placement& placement, const Host& host, bool peer_to_peer) {
  Plan plan = empty_plan();
  plan.ranks = bind_ranks(placement, host, {});
  plan.backend = placement.on_gpu() ? "nccl" : "gloo";
  if (!placement.on_gpu()) return plan;
  plan.nccl = plan_nccl(plan, placement, host, SystemFile{});
  plan.nccl.environment["NCCL_P2P_DISABLE"] = peer_to_peer ? "0" : "1";
  return plan;
}

std::string text_of(const CopyTask& task, const std::vector<std::string>& names) {
  const LinkFlow& flow = task.flows.front();
  std::string text = task.method + " from " + place_text(flow.source, names) + " to " +
                     place_text(flow.target, names);
  const bool is_pair = flow.source != kHostMemory && flow.target != kHostMemory;
  if (is_pair && task.flows.size() > 1) text += " and back";
  if (is_pair) text += task.peer_to_peer ? ", peer to peer" : ", through host memory";
  if (!is_pair && task.flows.size() > 1)
    text += ", " + std::to_string(task.flows.size()) + " GPUs at once";
  return text;
}

bool is_same_link(const CopyTask& a, const CopyTask& b) {
  const auto ends_of = [](const CopyTask& task) {
    const LinkFlow& flow = task.flows.front();
    return std::pair<int, int>(std::minmax(flow.source, flow.target));
  };
  return a.peer_to_peer == b.peer_to_peer && ends_of(a) == ends_of(b);
}

std::size_t task_at(const std::vector<CopyTask>& tasks, std::int64_t sizes_done) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    sizes_done -= static_cast<std::int64_t>(tasks[i].sizes_bytes.size());
    if (sizes_done < 0) return i;
  }
  return tasks.size();
}

}  // namespace falcon::plan
