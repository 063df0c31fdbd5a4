// CPUs and threads of the ranks.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "plan/placement.h"

namespace falcon::plan {
namespace {

std::vector<int> share(const std::vector<int>& cpus, std::size_t index, std::size_t count) {
  if (cpus.size() < count) return cpus;
  const std::size_t begin = cpus.size() * index / count;
  return {cpus.begin() + static_cast<std::ptrdiff_t>(begin),
          cpus.begin() + static_cast<std::ptrdiff_t>(cpus.size() * (index + 1) / count)};
}

std::vector<int> allowed_of_node(const Host& host, const Measured<int>& node) {
  if (!node.has_value()) return host.cpu.allowed;
  std::vector<int> cpus;
  for (const NumaNode& candidate : host.numa_nodes) {
    if (candidate.id != *node) continue;
    std::set_intersection(candidate.cpus.begin(), candidate.cpus.end(), host.cpu.allowed.begin(),
                          host.cpu.allowed.end(), std::back_inserter(cpus));
  }
  return cpus.empty() ? host.cpu.allowed : cpus;
}

}  // namespace

std::vector<RankPlan> bind_ranks(const Placement& placement, const Host& host,
                                 std::optional<std::int64_t> decode_threads) {
  const std::size_t world = placement.devices.size();
  const auto node_of = [&](std::size_t rank) {
    return placement.on_gpu() ? placement.gpus[rank]->numa_node
                              : Measured<int>::missing("workers on the CPU share all allowed CPUs");
  };
  std::map<int, std::size_t> ranks_on_node;  // -1: unknown
  for (std::size_t r = 0; r < world; ++r) ++ranks_on_node[node_of(r).value.value_or(-1)];
  std::map<int, std::size_t> next_on_node;
  const int quota_share = std::max(1, host.cpu.usable / static_cast<int>(world));
  std::vector<RankPlan> ranks;
  for (std::size_t r = 0; r < world; ++r) {
    RankPlan rank;
    rank.rank = static_cast<int>(r);
    rank.host = host.hostname;
    rank.devices = {placement.devices[r]};
    rank.numa_node = node_of(r);
    const int node = rank.numa_node.value.value_or(-1);
    rank.cpus =
        share(allowed_of_node(host, rank.numa_node), next_on_node[node]++, ranks_on_node[node]);
    const int threads = std::clamp(static_cast<int>(rank.cpus.size()), 1, quota_share);
    // On a GPU one CPU feeds the device and the others decode; on the CPU the operators need them.
    rank.compute_threads = placement.on_gpu() ? 1 : threads;
    rank.decode_threads = static_cast<int>(decode_threads.value_or(
        placement.on_gpu() ? std::max(1, threads - 1) : std::max(1, threads / 2)));
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

RankPlan joined(const std::vector<RankPlan>& ranks) {
  RankPlan all = ranks.front();
  std::set<int> cpus(all.cpus.begin(), all.cpus.end());
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    const RankPlan& rank = ranks[r];
    all.devices.insert(all.devices.end(), rank.devices.begin(), rank.devices.end());
    cpus.insert(rank.cpus.begin(), rank.cpus.end());
    all.decode_threads += rank.decode_threads;
    all.compute_threads += rank.compute_threads;
    if (all.numa_node.has_value() && rank.numa_node.value != all.numa_node.value) {
      all.numa_node = Measured<int>::missing("its devices are on several NUMA nodes");
    }
  }
  all.cpus.assign(cpus.begin(), cpus.end());
  return all;
}

}  // namespace falcon::plan
