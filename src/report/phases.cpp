#include "report/phases.h"

#include <set>

#include "falconbench/catalog.h"
#include "measure/statistics.h"

namespace falcon::report {
namespace {

const std::vector<double>* times_of(const WorkerRecords& rank, const std::string& phase) {
  const auto found = rank.phases.ms.find(phase);
  if (found == rank.phases.ms.end() || found->second.empty()) return nullptr;
  return &found->second;
}

std::string reason_of(const WorkerRecords& rank, const std::string& phase) {
  const auto found = rank.phases.reasons.find(phase);
  return found == rank.phases.reasons.end() ? "not timed" : found->second;
}

Measured<Statistics> make_phase(const Evidence& evidence, const std::string& phase) {
  if (!evidence.gap().empty()) return evidence.missing<Statistics>();
  std::vector<double> mean_ms(evidence.steps_ms.size(), 0.0);
  for (const WorkerRecords* rank : evidence.records) {
    const std::vector<double>* times = times_of(*rank, phase);
    if (times == nullptr) return Measured<Statistics>::missing(reason_of(*rank, phase));
    if (times->size() < mean_ms.size()) {
      return Measured<Statistics>::missing("rank " + std::to_string(rank->rank) + " timed " +
                                           std::to_string(times->size()) + " of " +
                                           std::to_string(mean_ms.size()) + " steps");
    }
    for (std::size_t k = 0; k < mean_ms.size(); ++k) mean_ms[k] += (*times)[k];
  }
  for (double& ms : mean_ms) ms /= static_cast<double>(evidence.records.size());
  return measure::summarize(mean_ms);
}

/// Visits the field list of Phases: the names of the report are the names of the records.
struct PhaseFiller {
  const Evidence& evidence;
  std::set<std::string> reasons;
  void field(const char* name, Measured<Statistics>& phase, const char*) {
    phase = make_phase(evidence, name);
    if (!phase.has_value()) reasons.insert(std::string(name) + ": " + phase.reason);
  }
};

Measured<double> mean_busy_ms(const Evidence& evidence) {
  double sum = 0;
  for (const WorkerRecords* rank : evidence.records) {
    if (!rank->communication.busy_ms.has_value()) return rank->communication.busy_ms;
    sum += *rank->communication.busy_ms;
  }
  return sum / static_cast<double>(evidence.records.size());
}

void add_bandwidths(const Evidence& evidence, Communication& out) {
  if (!out.busy_ms.has_value()) {
    out.algorithm_bandwidth_bytes_per_s = out.bus_bandwidth_bytes_per_s = out.busy_ms;
    return;
  }
  if (!(*out.busy_ms > 0)) {
    out.algorithm_bandwidth_bytes_per_s = out.bus_bandwidth_bytes_per_s =
        Measured<double>::missing("the communication stream was not busy");
    return;
  }
  const auto n = static_cast<double>(evidence.records.size());
  const double bytes_per_s = static_cast<double>(*out.bytes_per_step) / (*out.busy_ms * 1e-3);
  out.algorithm_bandwidth_bytes_per_s = bytes_per_s;
  // each byte is reduced and handed out again, or, in shards, one of both
  const StrategyFacts* strategy = catalog::find_parallelism(evidence.plan.parallelism);
  const double passes = strategy != nullptr && strategy->divides_state ? 1 : 2;
  out.bus_bandwidth_bytes_per_s = bytes_per_s * passes * (n - 1) / n;
}

bool is_alone(const Plan& plan) {
  return plan.ranks.size() == 1 && plan.ranks[0].devices.size() < 2;
}

}  // namespace

void add_phases(const Evidence& evidence, Training& out) {
  PhaseFiller filler{evidence, {}};
  visit_fields(out.phases_ms, filler);
  if (filler.reasons.empty()) return;
  std::string joined;
  for (const std::string& reason : filler.reasons) joined += (joined.empty() ? "" : "; ") + reason;
  out.phases_reason = evidence.gap().empty() ? joined : evidence.gap();
}

Communication make_communication(const Evidence& evidence, const Phases& phases) {
  Communication out;
  const std::string why =
      is_alone(evidence.plan) ? "one rank: nothing is exchanged" : evidence.gap();
  if (!why.empty()) {
    out.bytes_per_step = out.calls_per_step = Measured<std::int64_t>::missing(why);
    out.busy_ms = out.exposed_ms = out.algorithm_bandwidth_bytes_per_s =
        out.bus_bandwidth_bytes_per_s = Measured<double>::missing(why);
    return out;
  }
  const CommunicationRecord& first = evidence.records.front()->communication;
  out.bytes_per_step = first.bytes_per_step;
  out.calls_per_step = first.calls_per_step;
  out.busy_ms = mean_busy_ms(evidence);
  const Measured<Statistics>& exposed = phases.communication_exposed;
  out.exposed_ms =
      exposed.has_value() ? exposed.value->mean : Measured<double>::missing(exposed.reason);
  add_bandwidths(evidence, out);
  return out;
}

}  // namespace falcon::report
