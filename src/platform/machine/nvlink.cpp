#include "platform/machine/nvlink.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "platform/dump/lines.h"
#include "platform/machine/findings.h"
#include "platform/machine/pair_classes.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

using Counts = std::vector<std::vector<int>>;  // links between GPUs
using Pairs = Measured<std::vector<std::array<int, 3>>>;

// What one source says.
struct Links {
  std::string file;
  std::optional<Counts> pairs;
  std::optional<std::vector<int>> per_gpu;
  std::optional<bool> via_switch;
  std::string pairs_reason, per_gpu_reason, switch_reason;
};

// More links than any GPU so far has: topo -m then shows a switch, not links of a pair.
constexpr int kMostLinks = 18;

// All to all with the smaller number of links of the two.
Counts through_switches(const std::vector<int>& per_gpu) {
  const std::size_t count = per_gpu.size();
  Counts pairs(count, std::vector<int>(count));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (i != j) pairs[i][j] = std::min(per_gpu[i], per_gpu[j]);
    }
  }
  return pairs;
}

std::optional<std::size_t> gpu_at(const Machine& machine, const std::string& address) {
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    if (!address.empty() && machine.gpus[i].address == address) return i;
  }
  return {};
}

// From hwloc or NCCL: the partner of every link. The NVSwitches of one host are one fabric, as
// nvidia-smi has it too: it labels every pair of GPUs that have links to some.
Links links_of(const PciTree& tree, const Machine& machine) {
  const std::size_t count = machine.gpus.size();
  Links links;
  links.file = tree.file;
  std::vector<int> per_gpu(count);
  std::vector<int> to_switches(count);
  Counts direct(count, std::vector<int>(count));
  for (const NvlinkTarget& one : tree.nvlink) {
    const auto from = gpu_at(machine, one.gpu);
    if (!from) continue;
    per_gpu[*from] += one.links;
    if (one.is_switch) to_switches[*from] += one.links;
    if (const auto to = gpu_at(machine, one.target)) direct[*from][*to] += one.links;
    // Some hypervisors name the GPU itself as the partner of its links.
    if (one.target == one.gpu) links.pairs_reason = tree.file + ": links lead to their own GPU";
  }
  links.per_gpu = per_gpu;
  if (!links.pairs_reason.empty()) {
    links.switch_reason = links.pairs_reason;
    return links;
  }
  links.via_switch =
      std::any_of(to_switches.begin(), to_switches.end(), [](int number) { return number > 0; });
  links.pairs = *links.via_switch ? through_switches(to_switches) : direct;
  return links;
}

// nvidia-smi nvlink -s: numbers, no partners.
Links links_of_states(const FromFile<std::vector<NvlinkGpu>>& states) {
  Links links;
  links.file = states.file;
  links.per_gpu.emplace();
  for (const NvlinkGpu& gpu : states.content) links.per_gpu->push_back(gpu.active);
  const bool none = std::all_of(links.per_gpu->begin(), links.per_gpu->end(),
                                [](int count) { return count == 0; });
  if (none) {
    links.via_switch = false;
    links.pairs = through_switches(*links.per_gpu);  // no link at all
  }
  return links;
}

// Whether this partner has more links to the GPUs than a GPU can have: then it is an NVSwitch.
bool has_many_links(const std::vector<NvlinkGpu>& gpus, const std::string& partner) {
  std::ptrdiff_t links = 0;
  for (const NvlinkGpu& gpu : gpus) {
    links += std::count(gpu.remotes.begin(), gpu.remotes.end(), partner);
  }
  return links > kMostLinks;
}

// nvidia-smi nvlink -R. A hidden NVSwitch has an address of ones.
Links links_of_remotes(const FromFile<std::vector<NvlinkGpu>>& remotes, const Dump& dump,
                       const Machine& machine) {
  const std::size_t count = machine.gpus.size();
  Links links;
  links.file = remotes.file;
  links.per_gpu.emplace();
  Counts direct(count, std::vector<int>(count));
  int to_switches = 0;
  int to_others = 0;
  for (std::size_t i = 0; i < count; ++i) {
    links.per_gpu->push_back(remotes.content[i].active);
    for (const std::string& remote : remotes.content[i].remotes) {
      const std::string address = normal_pci_address(remote);
      const bool is_hidden = remote.find_first_not_of("Ff:.0") == std::string::npos &&
                             (remote.starts_with("F") || remote.starts_with("f"));
      const bool is_switch =
          std::any_of(dump.trees.begin(), dump.trees.end(), [&](const auto& tree) {
            const PciDevice* device = tree.find(address);
            return device != nullptr && device->kind == DeviceKind::kNvSwitch;
          });
      if (is_hidden || is_switch || has_many_links(remotes.content, remote)) {
        ++to_switches;
      } else if (const auto to = gpu_at(machine, address)) {
        ++direct[i][*to];
      } else {
        ++to_others;
      }
    }
  }
  if (to_others == 0) {
    links.via_switch = to_switches > 0;
    links.pairs = to_switches > 0 ? through_switches(*links.per_gpu) : direct;
  } else {
    links.pairs_reason = remotes.file + ": some links lead to what is no GPU that is known";
    links.switch_reason = links.pairs_reason;
  }
  return links;
}

// Whether the labels NV# of topo -m are of a switch (each GPU's own links, shared by all pairs) or
// of links that a pair owns.
std::optional<bool> is_switched(const Counts& pairs,
                                const std::optional<std::vector<int>>& per_gpu) {
  bool is_full = true;
  bool is_empty = true;
  bool is_too_many = false;
  std::set<int> labels;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    int sum = 0;
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      if (i == j) continue;
      is_full = is_full && pairs[i][j] > 0;
      is_empty = is_empty && pairs[i][j] == 0;
      labels.insert(pairs[i][j]);
      sum += pairs[i][j];
    }
    is_too_many = is_too_many || sum > kMostLinks || (per_gpu && sum > (*per_gpu)[i]);
  }
  if (is_empty) return false;
  if (is_too_many) return true;
  // With a switch, a label is the number of links of a whole GPU: at least 6, one may have failed.
  constexpr int kFewestOfSwitch = 5;
  if (!is_full || *labels.begin() < kFewestOfSwitch) return false;
  if (per_gpu && pairs.size() > 2) return false;  // the sum is what each GPU has
  return {};
}

// On some POWER machines links also lead to the CPUs, which topo -m does not show; their NUMA nodes
// are numbered in steps of 8 (0, 8, 252 and so on; the last have memory alone).
bool may_have_links_to_cpus(const TopoMatrix& topo, const Dump& dump) {
  for (const PciTree& tree : dump.trees) {
    if (!tree.architecture.empty()) return tree.architecture.starts_with("ppc");
  }
  std::set<int> nodes;
  for (const auto& affinity : topo.numa_affinity) {
    if (!affinity) continue;
    if (const auto node = leading_number(*affinity)) nodes.insert(*node);
  }
  return !nodes.empty() && *nodes.rbegin() > 0 &&
         std::all_of(nodes.begin(), nodes.end(), [](int node) { return node % 8 == 0; });
}

Links links_of(const TopoMatrix& topo, const std::optional<std::vector<int>>& per_gpu,
               const Dump& dump) {
  const std::size_t count = topo.cells.size();
  Links links;
  links.file = dump.topo->file;
  Counts pairs(count, std::vector<int>(count));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (!topo.cells[i][j]) {
        links.pairs_reason = links.file + " has a cell without a class";
        return links;
      }
      pairs[i][j] = nvlinks_of(*topo.cells[i][j]);
    }
  }
  links.pairs = pairs;
  if (count < 2) {
    links.per_gpu_reason = links.switch_reason = links.file + " is of one GPU only";
    return links;
  }
  links.via_switch = is_switched(pairs, per_gpu);
  if (!links.via_switch) {
    links.per_gpu_reason = links.switch_reason =
        links.file + ": the same label may be of a switch or of links that a pair owns";
    return links;
  }
  std::vector<int> sums;
  for (const std::vector<int>& row : pairs) {
    int sum = 0;
    for (const int number : row) sum = *links.via_switch ? std::max(sum, number) : sum + number;
    sums.push_back(sum);
  }
  const bool any = std::any_of(sums.begin(), sums.end(), [](int sum) { return sum > 0; });
  if (any && !*links.via_switch && may_have_links_to_cpus(topo, dump)) {
    links.per_gpu_reason = links.file + " does not show links to CPUs, which this machine may have";
  } else {
    links.per_gpu = sums;
  }
  return links;
}

std::vector<Links> sources_of(const Dump& dump, const Machine& machine) {
  std::vector<Links> sources;
  for (const PciTree& tree : dump.trees) {
    const bool knows_gpus =
        std::all_of(machine.gpus.begin(), machine.gpus.end(),
                    [&](const auto& gpu) { return tree.find(gpu.address) != nullptr; });
    if (tree.tells_nvlink && knows_gpus) sources.push_back(links_of(tree, machine));
  }
  // One that leaves GPUs out says nothing of those.
  const auto is_of_all = [&](const auto& list) {
    return list && list->content.size() == machine.gpus.size() &&
           list->content.back().index + 1 == static_cast<int>(machine.gpus.size());
  };
  std::optional<std::vector<int>> per_gpu;
  if (is_of_all(dump.nvlink_states)) {
    sources.push_back(links_of_states(*dump.nvlink_states));
    per_gpu = sources.back().per_gpu;
  }
  if (is_of_all(dump.nvlink_remotes)) {
    sources.push_back(links_of_remotes(*dump.nvlink_remotes, dump, machine));
    if (!per_gpu) per_gpu = sources.back().per_gpu;
  }
  if (const TopoMatrix* topo = topo_of_all(machine, dump)) {
    sources.push_back(links_of(*topo, per_gpu, dump));
  }
  return sources;
}

// The first source that says something; a later one that says otherwise is reported.
template <class T>
Measured<T> first_said(const std::vector<Links>& sources, std::optional<T> Links::*what,
                       std::string Links::*reason, const char* question, Machine& machine) {
  Measured<T> result = Measured<T>::missing("no file tells NVLink");
  const Links* believed = nullptr;
  for (const Links& source : sources) {
    if (!(source.*what)) {
      if (!result.has_value() && !(source.*reason).empty()) result.reason = source.*reason;
    } else if (believed == nullptr) {
      result = *(source.*what);
      believed = &source;
    } else if (*(source.*what) != *result) {
      machine.findings.push_back(sources_disagree(question, believed->file, source.file));
    }
  }
  return result;
}

Pairs listed(const Measured<Counts>& counts) {
  if (!counts.has_value()) return Pairs::missing(counts.reason);
  std::vector<std::array<int, 3>> pairs;
  for (std::size_t i = 0; i < counts.value->size(); ++i) {
    for (std::size_t j = i + 1; j < counts.value->size(); ++j) {
      const int links = std::max((*counts)[i][j], (*counts)[j][i]);
      if (links > 0) pairs.push_back({static_cast<int>(i), static_cast<int>(j), links});
    }
  }
  return pairs;
}

Measured<double> rate_of(const Dump& dump) {
  if (!dump.nvlink_states) return Measured<double>::missing("no nvidia-smi nvlink -s");
  std::set<double> rates;
  for (const NvlinkGpu& gpu : dump.nvlink_states->content) {
    rates.insert(gpu.gb_per_s.begin(), gpu.gb_per_s.end());
  }
  if (rates.size() == 1) return *rates.begin();
  return Measured<double>::missing(rates.empty() ? "no link is active"
                                                 : "the links run at different rates");
}

}  // namespace

void join_nvlink(const Dump& dump, Machine& machine) {
  machine.nvlink.gb_per_s_per_link = rate_of(dump);
  const std::vector<Links> sources =
      machine.gpus.empty() ? std::vector<Links>() : sources_of(dump, machine);
  machine.nvlink.pairs = listed(
      first_said(sources, &Links::pairs, &Links::pairs_reason, "the links of each pair", machine));
  machine.nvlink.links_per_gpu = first_said(sources, &Links::per_gpu, &Links::per_gpu_reason,
                                            "the links of each GPU", machine);
  machine.nvlink.via_switch = first_said(sources, &Links::via_switch, &Links::switch_reason,
                                         "whether NVLink goes through switches", machine);
  if (machine.gpus.empty()) {
    machine.nvlink.pairs.reason = machine.nvlink.links_per_gpu.reason =
        machine.nvlink.via_switch.reason = why_no_gpus(machine);
  }
}

}  // namespace falcon::platform
