#include "plan/host_places.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"

namespace falcon::plan {
namespace {

constexpr std::size_t kMostNamed = 4;  // hosts of one kind, in a finding

/// "2 x NV18, 1 x PIX"; "" of nothing.
std::string counted(const std::vector<std::string>& words) {
  std::map<std::string, int> counts;
  for (const std::string& word : words) ++counts[word];
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(std::to_string(count) + " x " + word);
  return base::join(parts, ", ");
}

/// The same of a value of each; "" also when one of them is not known.
template <class Items, class ValueOf>
std::string counted_values(const Items& items, ValueOf value_of) {
  std::vector<std::string> words;
  for (const auto& item : items) {
    const Measured<std::string> value = value_of(item);
    if (!value.has_value()) return "";
    words.push_back(*value);
  }
  return counted(words);
}

std::string devices_of(const HostShare& share) {
  std::vector<std::string> names;
  for (const RankPlan& rank : share.ranks) {
    for (const DevicePlan& device : rank.devices) names.push_back(device.name);
  }
  return counted(names);
}

std::string attach_of(const HostShare& share) {
  return counted_values(share.places->gpus, [](const GpuPlace& gpu) { return gpu.attach; });
}

std::string paths_of(const HostShare& share) {
  return counted_values(share.places->pairs, [](const PairPlace& pair) { return pair.path; });
}

// Not the generation now: an idle link slows down.
std::string pcie_of(const HostShare& share) {
  return counted_values(share.places->gpus, [](const GpuPlace& gpu) {
    using Text = Measured<std::string>;
    for (const Measured<int>* one :
         {&gpu.link_width, &gpu.link_generation_max, &gpu.link_width_max}) {
      if (!one->has_value()) return Text::missing(one->reason);
    }
    const std::string best = "Gen" + std::to_string(*gpu.link_generation_max) + " x" +
                             std::to_string(*gpu.link_width_max);
    const bool is_narrow = *gpu.link_width < *gpu.link_width_max;
    return Text(is_narrow ? best + " at x" + std::to_string(*gpu.link_width) : best);
  });
}

std::string cpus_of(const HostShare& share) {
  const Cpu& cpu = share.host->cpu;
  return cpu.model.has_value() ? std::to_string(cpu.usable) + " x " + *cpu.model : "";
}

std::string driver_of(const HostShare& share) {
  return share.places->gpus.empty() ? "" : share.host->driver.value.value_or("");
}

std::string storage_of(const HostShare& share) {
  const Measured<StoragePlace>& storage = share.places->storage;
  return storage.has_value() ? storage.value->attach : "";
}

struct Trait {
  const char* name;
  std::string (*of)(const HostShare& share);  // "": not known
};
constexpr std::array kTraits{
    Trait{"devices", devices_of},
    Trait{"where GPUs are attached", attach_of},
    Trait{"paths between GPUs", paths_of},
    Trait{"PCIe links of GPUs", pcie_of},
    Trait{"CPUs", cpus_of},
    Trait{"GPU driver", driver_of},
    Trait{"where the storage is attached", storage_of},
};

std::string names_text(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNamed);
  std::string text =
      base::join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

}  // namespace

Places joined_places(const std::vector<HostShare>& hosts) {
  std::map<int, std::pair<const HostShare*, std::size_t>> by_rank;
  for (const HostShare& share : hosts) {
    for (std::size_t i = 0; i < share.places->gpus.size(); ++i) {
      by_rank[share.ranks.at(i).rank] = {&share, i};
    }
  }
  Places all;
  std::map<std::pair<const HostShare*, std::size_t>, int> joined;  // place in the joined list
  for (const auto& [rank, own] : by_rank) {
    joined[own] = static_cast<int>(all.gpus.size());
    all.gpus.push_back(own.first->places->gpus[own.second]);
    all.gpus.back().host = own.first->name;
  }
  std::vector<std::string> orders;
  for (const HostShare& share : hosts) {
    for (PairPlace pair : share.places->pairs) {
      pair.a = joined.at({&share, static_cast<std::size_t>(pair.a)});
      pair.b = joined.at({&share, static_cast<std::size_t>(pair.b)});
      if (pair.a > pair.b) std::swap(pair.a, pair.b);
      all.pairs.push_back(std::move(pair));
    }
    for (const SharedUplink& uplink : share.places->uplinks) {
      all.uplinks.push_back(uplink);
      all.uplinks.back().host = share.name;
    }
    Measured<StoragePlace> storage = share.places->storage;
    if (storage.has_value()) storage.value->host = share.name;
    if (&share == &hosts.front()) {
      all.storage = std::move(storage);
    } else if (storage.has_value()) {
      all.other_storages.push_back(std::move(*storage.value));
    }
    if (!share.places->order.empty()) orders.push_back(share.name + ": " + share.places->order);
  }
  all.order = base::join(orders, "; ");
  return all;
}

std::vector<Finding> compare_hosts(const std::vector<HostShare>& hosts) {
  std::vector<Finding> findings;
  for (const Trait& trait : kTraits) {
    std::map<std::string, std::vector<std::string>> kinds;  // names of hosts by what they have
    for (const HostShare& share : hosts) {
      const std::string text = trait.of(share);
      if (!text.empty()) kinds[text].push_back(share.name);
    }
    if (kinds.size() < 2) continue;
    std::vector<std::string> evidence;
    for (const auto& [text, names] : kinds) evidence.push_back(names_text(names) + ": " + text);
    findings.push_back({"hosts_differ", "warning",
                        std::string("the hosts of the run differ: ") + trait.name,
                        base::join(evidence, "; "),
                        "the slower ones hold the others up: take hosts of one kind, and compare "
                        "ranks[].own_step_ms"});
  }
  return findings;
}

}  // namespace falcon::plan
