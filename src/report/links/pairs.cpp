#include "report/links/pairs.h"

#include <algorithm>
#include <set>

#include "report/links/expectation.h"
#include "report/links/figures.h"

namespace falcon::report {
namespace {

bool is_pair(const LinkFlow& flow) {
  return flow.source != kHostMemory && flow.target != kHostMemory;
}

bool is_between(const CopyTask& task, int source, int target) {
  return std::any_of(task.flows.begin(), task.flows.end(), [&](const LinkFlow& flow) {
    return flow.source == source && flow.target == target;
  });
}

/// Latencies: the smallest copies of one way, and loads.
void add_latency(const CopyTask& task, const LinkResult& result, const std::string& method,
                 std::vector<LatencyFigure>& out) {
  if (task.flows.size() > 1) return;
  for (const LinkWindows& windows : result.by_size) {
    if (windows.size_bytes != kLatencyBytes && task.method != "load") continue;
    out.push_back({method, task.peer_to_peer, copy_time(windows)});
  }
}

Measured<double> speed_of(const LinkPair& pair, const std::string& method, bool both_ways,
                          bool peer_to_peer) {
  for (const CopySeries& series : pair.copies) {
    if (series.method == method && series.both_ways == both_ways &&
        series.peer_to_peer == peer_to_peer) {
      return series.bytes_per_s;
    }
  }
  return Measured<double>::missing("not measured");
}

PairFigures figures_of(const LinkPair& pair, bool peer_to_peer) {
  PairFigures figures;
  figures.write_bytes_per_s = speed_of(pair, "write", false, peer_to_peer);
  figures.read_bytes_per_s = speed_of(pair, "read", false, peer_to_peer);
  figures.both_bytes_per_s = speed_of(pair, "write", true, peer_to_peer);
  figures.latency_s = Measured<double>::missing(
      figures.write_bytes_per_s.has_value() ? "not measured" : figures.write_bytes_per_s.reason);
  for (const LatencyFigure& latency : pair.latencies) {
    if (latency.method == "write" && latency.peer_to_peer == peer_to_peer) {
      figures.latency_s = latency.latency_s.median;
    }
  }
  return figures;
}

const PairPlace& place_of(const LinksInput& input, int source, int target) {
  static const PairPlace unknown{0, 0, Measured<std::string>::missing("the pair has no place"),
                                 Measured<std::string>::missing("the pair has no place")};
  for (const PairPlace& place : input.places.pairs) {
    if (place.a == std::min(source, target) && place.b == std::max(source, target)) return place;
  }
  return unknown;
}

/// As the system file has it; without one the path is what is known.
std::string class_of(const LinksInput& input, const PairPlace& place) {
  if (!input.system.path.empty() && place.pair_class.has_value()) return *place.pair_class;
  return place.path.has_value() ? *place.path : "unknown";
}

LinkPair make_pair(const LinksInput& input, int source, int target) {
  LinkPair pair;
  pair.source = source;
  pair.target = target;
  pair.source_name = input.devices.at(static_cast<std::size_t>(source)).name;
  pair.target_name = input.devices.at(static_cast<std::size_t>(target)).name;
  const PairPlace& place = place_of(input, source, target);
  pair.pair_class = class_of(input, place);
  pair.path = place.path;
  if (input.failure && input.copies.copies.empty()) {
    pair.peer_access = Measured<bool>::missing(input.failure->message);
  } else {
    pair.peer_access = std::any_of(
        input.copies.peers.begin(), input.copies.peers.end(),
        [&](const LinkFlow& peers) { return peers.source == source && peers.target == target; });
  }
  pair.expectation = pair_expectation(input, source, target, pair.path, pair.pair_class);
  for (std::size_t i = 0; i < input.copies.copies.size(); ++i) {
    const CopyTask& task = input.copy_work.copies.at(i);
    if (!is_between(task, source, target)) continue;
    const LinkResult& result = input.copies.copies[i];
    if (task.method != "load") pair.copies.push_back(copy_series(task, result));
    add_latency(task, result, task.method, pair.latencies);
  }
  pair.peer_to_peer = figures_of(pair, true);
  pair.host_staged = figures_of(pair, false);
  return pair;
}

/// Over the pairs of a class that have the figure; without any, the first one's reason.
Spread over_pairs(const std::vector<const LinkPair*>& pairs, PairFigures LinkPair::*kind,
                  Measured<double> PairFigures::*figure) {
  std::vector<double> values;
  std::string reason;
  for (const LinkPair* pair : pairs) {
    const Measured<double>& value = (pair->*kind).*figure;
    if (value.has_value()) values.push_back(*value);
    if (!value.has_value() && reason.empty()) reason = value.reason;
  }
  Spread spread = spread_of(std::move(values));
  if (spread.count == 0) {
    spread.median = spread.min = spread.max = Measured<double>::missing(reason);
  }
  return spread;
}

ClassFigures class_figures(const std::vector<const LinkPair*>& pairs, PairFigures LinkPair::*kind) {
  ClassFigures figures;
  figures.write_bytes_per_s = over_pairs(pairs, kind, &PairFigures::write_bytes_per_s);
  figures.read_bytes_per_s = over_pairs(pairs, kind, &PairFigures::read_bytes_per_s);
  figures.both_bytes_per_s = over_pairs(pairs, kind, &PairFigures::both_bytes_per_s);
  figures.latency_s = over_pairs(pairs, kind, &PairFigures::latency_s);
  return figures;
}

/// What each of the devices reached alone at the largest size, together.
Measured<double> alone_sum(const std::vector<HostCopies>& host, const std::vector<int>& devices,
                           const std::string& method) {
  double sum = 0;
  for (const HostCopies& one : host) {
    if (std::find(devices.begin(), devices.end(), one.device) == devices.end()) continue;
    const auto found =
        std::find_if(one.copies.begin(), one.copies.end(),
                     [&method](const CopySeries& series) { return series.method == method; });
    if (found == one.copies.end()) return Measured<double>::missing("not measured alone");
    if (!found->bytes_per_s.has_value()) return found->bytes_per_s;
    sum += *found->bytes_per_s;
  }
  return sum;
}

/// The name of the uplink that exactly these devices share; "all" otherwise.
std::string shared_by(const LinksInput& input, const std::vector<int>& devices) {
  std::vector<std::string> names;
  for (const int device : devices) {
    names.push_back(input.devices.at(static_cast<std::size_t>(device)).name);
  }
  for (const SharedUplink& uplink : input.places.uplinks) {
    if (uplink.devices == names) return uplink.name;
  }
  return "all";
}

HostCopiesTogether together_of(const LinksInput& input, const CopyTask& task,
                               const LinkWindows& windows, const std::vector<HostCopies>& host) {
  HostCopiesTogether out;
  for (const LinkFlow& flow : task.flows) {
    out.devices.push_back(std::max(flow.source, flow.target));
  }
  out.name = shared_by(input, out.devices);
  out.expected_bytes_per_s = expected_of_uplink(input, out.name);
  out.method = task.method;
  out.size_bytes = windows.size_bytes;
  out.bytes_per_s = copy_rate(windows, task.flows.size());
  for (std::size_t flow = 0; flow < task.flows.size(); ++flow) {
    out.device_bytes_per_s.push_back(flow_rate(windows, flow));
  }
  out.alone_sum_bytes_per_s = alone_sum(host, out.devices, task.method);
  out.relative_to_alone = out.alone_sum_bytes_per_s;
  if (out.alone_sum_bytes_per_s.has_value()) {
    out.relative_to_alone =
        out.bytes_per_s.median.has_value()
            ? Measured<double>(*out.bytes_per_s.median / *out.alone_sum_bytes_per_s)
            : out.bytes_per_s.median;
  }
  out.contents_match = windows.contents_match;
  return out;
}

}  // namespace

std::vector<LinkPair> make_pairs(const LinksInput& input) {
  std::vector<LinkPair> pairs;
  const int count = static_cast<int>(input.devices.size());
  for (int source = 0; source < count; ++source) {
    for (int target = 0; target < count; ++target) {
      const bool are_gpus = input.devices.at(static_cast<std::size_t>(source)).kind == "cuda";
      if (source != target && are_gpus) pairs.push_back(make_pair(input, source, target));
    }
  }
  return pairs;
}

std::vector<LinkClass> make_classes(const std::vector<LinkPair>& pairs) {
  std::vector<LinkClass> classes;
  std::set<std::string> seen;
  for (const LinkPair& first : pairs) {
    if (!seen.insert(first.pair_class).second) continue;
    std::vector<const LinkPair*> members;
    for (const LinkPair& pair : pairs) {
      if (pair.pair_class == first.pair_class) members.push_back(&pair);
    }
    LinkClass out;
    out.name = first.pair_class;
    out.pairs = static_cast<std::int64_t>(members.size());
    out.peer_to_peer = class_figures(members, &LinkPair::peer_to_peer);
    out.host_staged = class_figures(members, &LinkPair::host_staged);
    classes.push_back(std::move(out));
  }
  return classes;
}

std::vector<HostCopies> make_host_copies(const LinksInput& input) {
  std::vector<HostCopies> all;
  for (const LinkDevice& device : input.devices) {
    if (device.kind != "cuda") continue;
    HostCopies out;
    out.device = device.index;
    out.name = device.name;
    const auto index = static_cast<std::size_t>(device.index);
    out.memory_node = index < input.copies.memory.size()
                          ? input.copies.memory[index].node
                          : Measured<int>::missing("the copies were not measured");
    out.expectation = host_expectation(input, device.index);
    for (std::size_t i = 0; i < input.copies.copies.size(); ++i) {
      const CopyTask& task = input.copy_work.copies.at(i);
      const LinkFlow& flow = task.flows.front();
      if (task.flows.size() > 1 || is_pair(flow)) continue;
      if (std::max(flow.source, flow.target) != device.index) continue;
      out.copies.push_back(copy_series(task, input.copies.copies[i]));
      add_latency(task, input.copies.copies[i], task.method, out.latencies);
    }
    all.push_back(std::move(out));
  }
  return all;
}

std::vector<HostCopiesTogether> make_host_together(const LinksInput& input,
                                                   const std::vector<HostCopies>& host) {
  std::vector<HostCopiesTogether> all;
  for (std::size_t i = 0; i < input.copies.copies.size(); ++i) {
    const CopyTask& task = input.copy_work.copies.at(i);
    if (task.flows.size() < 2 || is_pair(task.flows.front())) continue;
    for (const LinkWindows& windows : input.copies.copies[i].by_size) {
      all.push_back(together_of(input, task, windows, host));
    }
  }
  return all;
}

}  // namespace falcon::report
