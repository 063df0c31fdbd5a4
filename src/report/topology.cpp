// The report's topology: what was planned and declared against what the ranks computed on and how
// they reached each other.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "report/places.h"

namespace falcon::report {
namespace {

std::string device_text(const DevicePlan& device) {
  return device.uuid.empty() ? device.kind : device.uuid;
}

/// CUDA gives the bare UUID, NVML puts GPU- before it.
std::string bare_uuid(std::string uuid) {
  if (uuid.starts_with("GPU-")) uuid.erase(0, 4);
  std::transform(uuid.begin(), uuid.end(), uuid.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
  return uuid;
}

bool is_same(const DevicePlan& a, const DevicePlan& b) {
  return a.kind == b.kind && bare_uuid(a.uuid) == bare_uuid(b.uuid);
}

/// A verdict that grows worse with what is found.
class Verdict {
 public:
  void add(const std::string& verdict, const std::string& evidence) {
    if (verdict == kMismatched) {
      worst_ = kMismatched;
      mismatches_.push_back(evidence);
    } else if (verdict == kUnknown) {
      if (worst_ == kMatched) worst_ = kUnknown;
      gaps_.push_back(evidence);
    } else {
      proofs_.push_back(evidence);
    }
  }
  /// What contradicts first, what is not known last.
  void give(Topology& out) {
    out.verdict = worst_;
    for (std::vector<std::string>* part : {&mismatches_, &proofs_, &gaps_}) {
      std::move(part->begin(), part->end(), std::back_inserter(out.evidence));
    }
  }

 private:
  std::string worst_ = kMatched;
  std::vector<std::string> mismatches_, proofs_, gaps_;
};

/// Ranks that said what they computed on, against the plan.
void compare_devices(const Evidence& evidence, Verdict& verdict) {
  bool is_equal = true;
  for (const RankPlan& rank : evidence.plan.ranks) {
    const std::vector<DevicePlan>& seen = evidence.of_rank(rank.rank)->devices;
    if (std::equal(rank.devices.begin(), rank.devices.end(), seen.begin(), seen.end(), is_same)) {
      continue;
    }
    is_equal = false;
    std::vector<std::string> planned, used;
    for (const DevicePlan& device : rank.devices) planned.push_back(device_text(device));
    for (const DevicePlan& device : seen) used.push_back(device_text(device));
    verdict.add(kMismatched, "rank " + std::to_string(rank.rank) + ": planned " +
                                 base::join(planned, ", ") + ", used " + base::join(used, ", "));
  }
  if (is_equal) {
    verdict.add(kMatched, "every rank used the device planned for it, compared by UUID");
  }
}

void judge_places(const Plan& plan, Verdict& verdict) {
  const std::string& name = plan.spec.topology.name;
  const bool is_on_gpu = std::any_of(plan.ranks.begin(), plan.ranks.end(), [](const RankPlan& r) {
    return std::any_of(r.devices.begin(), r.devices.end(),
                       [](const DevicePlan& device) { return !device.uuid.empty(); });
  });
  if (plan.places.gpus.empty() && is_on_gpu && !name.empty() && name != "all") {
    verdict.add(kUnknown, "how the devices of " + name + " are attached is not proved");
  }
  std::size_t matched = 0;
  for (const GpuPlace& gpu : plan.places.gpus) {
    const bool is_on_first = gpu.host == plan.places.gpus.front().host;
    if (gpu.verdict == kMatched) {
      ++matched;
    } else {
      verdict.add(gpu.verdict,
                  gpu.name + (is_on_first ? "" : " of " + gpu.host) + ": " + gpu.evidence);
    }
  }
  if (matched > 0) {
    verdict.add(kMatched, std::to_string(matched) + " of " +
                              std::to_string(plan.places.gpus.size()) +
                              " GPUs sit where they are declared, see gpus[].evidence");
  }
  std::vector<StoragePlace> storages = plan.places.other_storages;
  if (plan.places.storage.has_value()) storages.insert(storages.begin(), *plan.places.storage);
  for (const StoragePlace& storage : storages) {
    const std::string of = storage.host == storages.front().host ? "" : " of " + storage.host;
    verdict.add(storage.verdict, "storage " + storage.name + of + ": " + storage.evidence);
  }
}

TopologyGpu make_gpu(const GpuPlace& place) {
  TopologyGpu gpu;
  static_cast<GpuPlace&>(gpu) = place;
  gpu.link_under_load = Measured<std::string>::missing("not read");
  return gpu;
}

TopologyGpu make_gpu(const DevicePlan& device) {
  GpuPlace place;
  place.name = device.pci_address;
  place.uuid = device.uuid;
  place.pci_address = device.pci_address;
  return make_gpu(place);
}

/// Of all ranks together. A rank logs what it sends; where both ends log, the larger number counts.
Measured<std::vector<Transport>> transports_of(const Evidence& evidence) {
  using Transports = Measured<std::vector<Transport>>;
  if (!evidence.gap().empty()) return evidence.missing<std::vector<Transport>>();
  std::map<std::pair<int, int>, std::map<std::string, int>> channels;
  for (const WorkerRecords* rank : evidence.records) {
    if (!rank->transports.has_value()) return Transports::missing(rank->transports.reason);
    for (const Transport& one : *rank->transports) {
      int& count = channels[{one.from, one.to}][one.via];
      count = std::max(count, one.channels);
    }
  }
  std::vector<Transport> all;
  for (const auto& [ends, ways] : channels) {
    for (const auto& [via, count] : ways) all.push_back({ends.first, ends.second, via, count});
  }
  return all;
}

Measured<std::string> transport_between(const Measured<std::vector<Transport>>& transports, int a,
                                        int b) {
  using Text = Measured<std::string>;
  if (!transports.has_value()) return Text::missing(transports.reason);
  std::set<std::string> ways;
  for (const Transport& one : *transports) {
    const bool is_theirs = (one.from == a && one.to == b) || (one.from == b && one.to == a);
    if (is_theirs) ways.insert(one.via);
  }
  if (ways.empty()) return Text::missing("NCCL connected them through others");
  return base::join(std::vector<std::string>(ways.begin(), ways.end()), ", ");
}

void add_pairs(const Plan& plan, Topology& out) {
  using Counts = Measured<std::map<std::string, std::int64_t>>;
  std::map<std::string, std::int64_t> counts;
  std::string gap = plan.places.gpus.empty() ? "no GPUs were planned" : "";
  for (const PairPlace& place : plan.places.pairs) {
    TopologyPair pair;
    static_cast<PairPlace&>(pair) = place;
    pair.transport = transport_between(out.transports, place.a, place.b);
    if (place.pair_class.has_value()) ++counts[*place.pair_class];
    if (!place.pair_class.has_value() && gap.empty()) gap = place.pair_class.reason;
    out.pairs.push_back(std::move(pair));
  }
  out.pair_classes = gap.empty() ? Counts(std::move(counts)) : Counts::missing(gap);
}

}  // namespace

Topology make_topology(const Evidence& evidence) {
  const Plan& plan = evidence.plan;
  Topology out;
  out.requested = plan.spec.topology;
  out.emulated = plan.spec.emulate.falcon_link.has_value();
  out.transports = transports_of(evidence);
  out.uplinks = plan.places.uplinks;
  out.storage = plan.places.storage;
  out.other_storages = plan.places.other_storages;
  for (const GpuPlace& place : plan.places.gpus) out.gpus.push_back(make_gpu(place));
  std::string silent = plan.ranks.empty() ? "nothing was planned" : "";
  for (const RankPlan& rank : plan.ranks) {
    for (const DevicePlan& device : rank.devices) {
      if (plan.places.gpus.empty() && !device.uuid.empty()) out.gpus.push_back(make_gpu(device));
    }
    const WorkerRecords* records = evidence.of_rank(rank.rank);
    if (records == nullptr || records->devices.empty()) {
      if (silent.empty()) {
        silent = "rank " + std::to_string(rank.rank) + " did not say what it computed on";
      }
      continue;
    }
    out.observed.insert(out.observed.end(), records->devices.begin(), records->devices.end());
  }
  add_pairs(plan, out);
  Verdict verdict;
  if (silent.empty()) {
    compare_devices(evidence, verdict);
    judge_places(plan, verdict);
  } else {
    verdict.add(kUnknown, silent);
  }
  verdict.give(out);
  return out;
}

}  // namespace falcon::report
