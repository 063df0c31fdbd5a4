#include "plan/placement.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.h"
#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "platform/pci_address.h"

namespace falcon::plan {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw InputError({Fault{"spec", 0, 0, "topology", message}});
}

std::string gpus_text(const Host& host) {
  if (host.gpus.empty()) {
    return "this host has no GPU (" + host.driver.reason + ")";
  }
  std::string text = "this host has";
  for (const Gpu& gpu : host.gpus)
    text += "\n  " + gpu.pci_address + "  " + gpu.uuid + "  " + gpu.name;
  return text;
}

bool looks_like_address(const std::string& word) {
  return word.rfind("GPU-", 0) == 0 || word.rfind("MIG-", 0) == 0 ||
         std::count(word.begin(), word.end(), ':') == 2;
}

const Gpu* find_gpu(const Host& host, const std::string& word) {
  for (const Gpu& gpu : host.gpus) {
    if (gpu.uuid == word || gpu.pci_address == platform::normal_pci_address(word)) return &gpu;
  }
  return nullptr;
}

// The GPU that a word of a list or of a named set means.
const Gpu& named_gpu(const std::string& word, const Host& host, const SystemFile& system) {
  if (!word.empty() &&
      std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); })) {
    refuse("\"" + word +
           "\" is a bare index, which means another GPU after a reboot or under "
           "CUDA_VISIBLE_DEVICES; give " +
           "a PCI address or a UUID: " + gpus_text(host));
  }
  if (const auto entry = system.gpus.find(word); entry != system.gpus.end()) {
    const std::string& address =
        entry->second.uuid.empty() ? entry->second.pci_address : entry->second.uuid;
    if (const Gpu* gpu = find_gpu(host, address)) return *gpu;
    throw Error(ExitCode::kHost,
                "topology: " + word + " (" + address + ") is not on this host; " + gpus_text(host));
  }
  if (const Gpu* gpu = find_gpu(host, word)) return *gpu;
  if (looks_like_address(word)) {
    throw Error(ExitCode::kHost,
                "topology: no GPU " + base::printable(word) + "; " + gpus_text(host));
  }
  std::vector<std::string> names;
  for (const auto& [name, gpu] : system.gpus) names.push_back(name);
  const std::string near = base::nearest(word, names);
  refuse("\"" + base::printable(word) +
         "\" is no PCI address, UUID or GPU name of the system file" +
         (near.empty() ? "" : ", did you mean " + near + "?"));
}

// The words of a named set, or the reason why the name stands for nothing.
std::vector<std::string> set_members(const std::string& name, const Host& host,
                                     const SystemFile& system) {
  if (name == "all") {
    std::vector<std::string> addresses;
    for (const Gpu& gpu : host.gpus) addresses.push_back(gpu.pci_address);
    if (addresses.empty()) throw Error(ExitCode::kHost, "topology all: " + gpus_text(host));
    return addresses;
  }
  if (system.topologies.contains(name)) return system.members(name);
  std::vector<std::string> known = {"all", "cpu"};
  for (const auto& [topology, members] : system.topologies) known.push_back(topology);
  for (const WordFacts& word : catalog::topologies()) {
    if (word.name == name) {
      throw Error(ExitCode::kHost,
                  "topology " + name + ": " +
                      (system.path.empty() ? "no system file says which GPUs that is (key system)"
                                           : system.path + " has no topology of that name") +
                      "; " + gpus_text(host));
    }
    known.push_back(word.name);
  }
  const std::string near = base::nearest(name, known);
  refuse("unknown topology \"" + base::printable(name) + "\"" +
         (near.empty() ? "" : ", did you mean " + near + "?") +
         " Known: " + base::join(known, ", "));
}

// One address alone is a list of one.
std::vector<std::string> words_of(const std::string& name, const Host& host,
                                  const SystemFile& system) {
  if (looks_like_address(name)) return {name};
  return set_members(name, host, system);
}

Placement place_on_cpu(std::optional<std::int64_t> devices) {
  Placement placement;
  for (std::int64_t i = 0; i < devices.value_or(2); ++i) {
    placement.devices.push_back(DevicePlan{"cpu", "", "", "CPU"});
    placement.names.push_back("cpu");
  }
  return placement;
}

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

Placement place(const NameOrList& topology, std::optional<std::int64_t> devices, const Host& host,
                const SystemFile& system) {
  if (topology.name == "cpu") return place_on_cpu(devices);
  const std::vector<std::string> words =
      topology.items.empty() ? words_of(topology.name, host, system) : topology.items;
  Placement placement;
  std::map<std::string, std::string> used;  // UUID -> the word that named it
  for (const std::string& word : words) {
    const Gpu& gpu = named_gpu(word, host, system);
    const auto [before, is_new] = used.try_emplace(gpu.uuid, word);
    if (!is_new)
      refuse("the same GPU twice: " + before->second + " and " + word + " are both " +
             gpu.pci_address);
    placement.devices.push_back(DevicePlan{"cuda", gpu.uuid, gpu.pci_address, gpu.name});
    placement.names.push_back(word);
    placement.gpus.push_back(&gpu);
  }
  const std::size_t wanted =
      static_cast<std::size_t>(devices.value_or(static_cast<std::int64_t>(words.size())));
  if (wanted > words.size()) {
    throw Error(ExitCode::kHost, "devices: " + std::to_string(wanted) +
                                     " asked for, but the topology " +
                                     (topology.name.empty() ? "list" : topology.name) + " has " +
                                     std::to_string(words.size()) + "; " + gpus_text(host));
  }
  placement.devices.resize(wanted);
  placement.names.resize(wanted);
  placement.gpus.resize(wanted);
  return placement;
}

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
