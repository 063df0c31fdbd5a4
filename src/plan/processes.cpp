#include "plan/processes.h"

#include <algorithm>
#include <set>

#include "falconbench/errors.h"

namespace falcon::plan {
namespace {

bool sees(const ProcessView& process, const Gpu& gpu) {
  return std::any_of(process.gpus.begin(), process.gpus.end(),
                     [&gpu](const Gpu& other) { return other.uuid == gpu.uuid; });
}

bool all_see_the_same(const std::vector<ProcessView>& processes, const Placement& all) {
  return std::all_of(processes.begin(), processes.end(), [&](const ProcessView& process) {
    return std::all_of(all.gpus.begin(), all.gpus.end(), [&](const Gpu* gpu) {
      return sees(process, *gpu) == sees(processes.front(), *gpu);
    });
  });
}

[[noreturn]] void refuse_few(const std::vector<ProcessView>& processes, const Placement& all,
                             const Host& host, const std::string& why) {
  throw Error(ExitCode::kHost, "host " + host.hostname + " has " +
                                   std::to_string(processes.size()) + " processes of the run and " +
                                   std::to_string(all.gpus.size()) +
                                   " GPUs of the topology: " + why);
}

Placement place_on_gpus(const std::vector<ProcessView>& processes, const Placement& all,
                        const Host& host) {
  const bool is_shared = all_see_the_same(processes, all);
  Placement placement;
  std::set<std::size_t> taken;
  for (const ProcessView& process : processes) {
    std::size_t choice = 0;
    while (choice < all.gpus.size() &&
           (taken.contains(choice) || !(is_shared || sees(process, *all.gpus[choice])))) {
      ++choice;
    }
    if (choice == all.gpus.size()) {
      refuse_few(processes, all, host,
                 "none is left for rank " + std::to_string(process.rank) +
                     (is_shared ? "; start as many processes a host as it has GPUs"
                                : " among those that its process may use"));
    }
    taken.insert(choice);
    placement.devices.push_back(all.devices[choice]);
    placement.names.push_back(all.names[choice]);
    placement.gpus.push_back(all.gpus[choice]);
    placement.declared.push_back(all.declared[choice]);
  }
  return placement;
}

// A mask of its own was somebody's decision (mpirun --bind-to core, srun --cpus-per-task).
void keep_cpus(const ProcessView& process, bool on_gpu, std::optional<std::int64_t> decode_threads,
               RankPlan& rank) {
  rank.cpus = process.cpus;
  const int threads = std::max(1, static_cast<int>(rank.cpus.size()));
  rank.compute_threads = on_gpu ? 1 : threads;
  rank.decode_threads = static_cast<int>(
      decode_threads.value_or(on_gpu ? std::max(1, threads - 1) : std::max(1, threads / 2)));
}

}  // namespace

void admit(Host& host, const std::vector<ProcessView>& processes) {
  std::set<int> cpus(host.cpu.allowed.begin(), host.cpu.allowed.end());
  for (const ProcessView& process : processes) {
    cpus.insert(process.cpus.begin(), process.cpus.end());
    for (const Gpu& gpu : process.gpus) {
      const bool is_known =
          std::any_of(host.gpus.begin(), host.gpus.end(),
                      [&gpu](const Gpu& other) { return other.uuid == gpu.uuid; });
      if (!is_known) host.gpus.push_back(gpu);
    }
  }
  std::sort(host.gpus.begin(), host.gpus.end(),
            [](const Gpu& a, const Gpu& b) { return a.pci_address < b.pci_address; });
  host.cpu.allowed.assign(cpus.begin(), cpus.end());
  host.cpu.usable = static_cast<int>(host.cpu.allowed.size());
  if (host.cpu.quota_cpus.has_value()) {
    host.cpu.usable = std::min(host.cpu.usable, static_cast<int>(*host.cpu.quota_cpus));
  }
  host.cpu.usable = std::max(1, host.cpu.usable);
}

PlacedProcesses place_processes(const NameOrList& topology,
                                const std::vector<ProcessView>& processes, const Host& host,
                                const SystemFile& system,
                                std::optional<std::int64_t> decode_threads) {
  PlacedProcesses placed;
  const auto count = static_cast<std::int64_t>(processes.size());
  const bool on_cpu = topology.name == "cpu";
  const Placement all =
      place(topology, on_cpu ? std::optional<std::int64_t>(count) : std::nullopt, host, system);
  placed.placement = all.on_gpu() ? place_on_gpus(processes, all, host) : all;
  placed.ranks = bind_ranks(placed.placement, host, decode_threads);
  const bool has_one_mask = std::all_of(
      processes.begin(), processes.end(),
      [&](const ProcessView& process) { return process.cpus == processes.front().cpus; });
  for (std::size_t i = 0; i < processes.size(); ++i) {
    RankPlan& rank = placed.ranks[i];
    if (!has_one_mask) keep_cpus(processes[i], placed.placement.on_gpu(), decode_threads, rank);
    rank.rank = processes[i].rank;
    rank.host = host.hostname;
  }
  return placed;
}

PlacedProcesses joined(const std::vector<HostShare>& hosts) {
  struct Row {
    RankPlan rank;
    std::string name;
    const Gpu* gpu = nullptr;
  };
  std::vector<Row> rows;
  for (const HostShare& share : hosts) {
    for (std::size_t i = 0; i < share.ranks.size(); ++i) {
      Row row{share.ranks[i], share.names.at(i)};
      for (const Gpu& gpu : share.host->gpus) {
        if (gpu.uuid == row.rank.devices.at(0).uuid) row.gpu = &gpu;
      }
      rows.push_back(std::move(row));
    }
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.rank.rank < b.rank.rank; });
  PlacedProcesses all;
  for (const Row& row : rows) {
    all.ranks.push_back(row.rank);
    all.placement.devices.push_back(row.rank.devices.at(0));
    all.placement.names.push_back(row.name);
    if (row.gpu == nullptr) continue;
    all.placement.gpus.push_back(row.gpu);
    all.placement.declared.push_back(nullptr);
  }
  return all;
}

}  // namespace falcon::plan
