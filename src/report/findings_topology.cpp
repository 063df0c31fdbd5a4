// Rules about where a run took place and how its ranks reached each other.
#include <algorithm>

#include "base/text.h"
#include "report/findings.h"

namespace falcon::report::rules {
namespace {

std::string pair_text(const Topology& topology, const TopologyPair& pair) {
  const auto name = [&](int place) { return topology.gpus[static_cast<std::size_t>(place)].name; };
  return name(pair.a) + " and " + name(pair.b) + ": " + pair.transport.value.value_or("");
}

bool goes_by(const TopologyPair& pair, const char* transport) {
  return pair.transport.has_value() && pair.transport.value->find(transport) != std::string::npos;
}

bool has_falcon(const TopologyPair& pair) {
  return pair.pair_class.has_value() && pair.pair_class.value->starts_with('F');
}

std::string first_of(const std::vector<std::string>& texts) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown(
      texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, texts.size())));
  if (texts.size() > kShown)
    shown.push_back("and " + std::to_string(texts.size() - kShown) + " more");
  return base::join(shown, "; ");
}

}  // namespace

Notes topology_mismatched(const Observation& o) {
  const Topology& topology = o.report.topology;
  if (topology.verdict != kMismatched) return {};
  return {{"the run did not use what was asked for", topology.evidence.front(),
           "check CUDA_VISIBLE_DEVICES and the system file"}};
}

Notes topology_unknown(const Observation& o) {
  const Topology& topology = o.report.topology;
  if (topology.verdict != kUnknown || o.report.run.status != "ok") return {};
  return {{"it is not proved that the devices are those that were asked for",
           topology.evidence.empty() ? "no evidence" : topology.evidence.back(),
           "unknown is not matched: say so when using the figures"}};
}

Notes emulation_failed(const Observation& o) {
  const Topology& topology = o.report.topology;
  if (!topology.emulated || o.report.run.status != "ok") return {};
  const char* advice = "the figures are not those of a staged link: see topology.pairs";
  if (!topology.transports.has_value()) {
    return {{"it is not proved that the chassis was emulated", topology.transports.reason, advice}};
  }
  std::vector<std::string> direct;
  bool is_any_staged = false;
  for (const TopologyPair& pair : topology.pairs) {
    if (!has_falcon(pair) || !pair.transport.has_value()) continue;
    const bool is_staged = goes_by(pair, "SHM") && !goes_by(pair, "P2P") && !goes_by(pair, "NET");
    is_any_staged = is_any_staged || is_staged;
    if (!is_staged) direct.push_back(pair_text(topology, pair));
  }
  if (!direct.empty()) {
    return {{"NCCL did not stage what emulated chassis GPUs exchange", first_of(direct), advice}};
  }
  if (is_any_staged) return {};
  return {{"it is not proved that the chassis was emulated",
           "NCCL's log names no transport of an emulated chassis GPU", advice}};
}

Notes nccl_fallback(const Observation& o) {
  const Topology& topology = o.report.topology;
  std::vector<std::string> slow;
  for (const TopologyPair& pair : topology.pairs) {
    const bool is_meant = topology.emulated && has_falcon(pair);
    if (!is_meant && (goes_by(pair, "SHM") || goes_by(pair, "NET"))) {
      slow.push_back(pair_text(topology, pair));
    }
  }
  if (slow.empty()) return {};
  return {{"NCCL fell back to shared memory or the network between GPUs of one host",
           first_of(slow),
           "look at peer access (falconbench doctor), the NCCL_ variables of the environment, ACS "
           "and the IOMMU"}};
}

}  // namespace falcon::report::rules
