#include "report/places.h"

#include <algorithm>

#include "measure/statistics.h"

namespace falcon::report {
namespace {

/// Mean step without the time in which ranks wait for each other: a fast rank spends there what it
/// is ahead.
Measured<double> own_step_ms(const WorkerRecords& records, const Statistics& step,
                             std::size_t num_ranks) {
  if (!step.mean.has_value() || num_ranks == 1) return step.mean;
  const auto found = records.phases.ms.find("communication_exposed");
  if (found == records.phases.ms.end() || found->second.empty()) {
    const auto reason = records.phases.reasons.find("communication_exposed");
    return Measured<double>::missing(
        "communication_exposed is not known: " +
        (reason == records.phases.reasons.end() ? "not timed" : reason->second));
  }
  const Statistics waited = measure::summarize(found->second);
  if (!waited.mean.has_value()) return waited.mean;
  return *step.mean - *waited.mean;
}

void add_records(const WorkerRecords& records, std::size_t num_ranks, RankReport& out) {
  if (out.host.empty()) out.host = records.hostname;
  out.pid = records.pid;
  if (!records.devices.empty()) out.devices = records.devices;
  out.steps = records.measured_steps;
  out.step_time_ms = measure::summarize(records.step_ms);
  out.own_step_ms = own_step_ms(records, out.step_time_ms, num_ranks);
  out.memory = records.memory;
  out.gpu_memory_peak_bytes = records.gpu_memory_peak_bytes;
  out.parameter_hash = records.parameter_hash.empty()
                           ? Measured<std::string>::missing("the worker did not compute it")
                           : Measured<std::string>(records.parameter_hash);
  out.choices = records.choices;
}

void add_missing_records(RankReport& out) {
  const std::string why = "the rank sent no records";
  out.step_time_ms = measure::summarize({});
  out.own_step_ms = Measured<double>::missing(why);
  out.memory = Measured<MemoryRecord>::missing(why);
  out.gpu_memory_peak_bytes = Measured<std::int64_t>::missing(why);
  out.parameter_hash = Measured<std::string>::missing(why);
}

void add_end(const Evidence& evidence, RankReport& out) {
  const auto& workers = evidence.log.workers;
  const auto found = std::find_if(workers.begin(), workers.end(),
                                  [&out](const WorkerEnd& w) { return w.rank == out.rank; });
  if (found == workers.end() || found->pid == 0) {
    const std::string why = "the worker was not started";
    out.ended = found == workers.end() ? "not started" : found->ended;
    if (!out.pid.has_value()) out.pid = Measured<std::int64_t>::missing(why);
    out.peak_rss_bytes = Measured<std::int64_t>::missing(why);
    out.user_s = out.system_s = Measured<double>::missing(why);
    return;
  }
  out.pid = found->pid;
  out.ended = found->ended;
  out.last_phase = found->phase;
  out.last_step = found->last_step;
  out.last_lines = found->last_lines;
  out.peak_rss_bytes = found->peak_rss_bytes;
  out.user_s = found->user_s;
  out.system_s = found->system_s;
}

void compare_ranks(std::vector<RankReport>& ranks) {
  double fastest_ms = 0;
  for (const RankReport& rank : ranks) {
    if (!rank.own_step_ms.has_value()) {
      for (RankReport& other : ranks) {
        other.relative_to_fastest = Measured<double>::missing(
            "own_step_ms of rank " + std::to_string(rank.rank) + " is missing");
      }
      return;
    }
    const bool is_first = &rank == &ranks.front();
    fastest_ms = is_first ? *rank.own_step_ms : std::min(fastest_ms, *rank.own_step_ms);
  }
  for (RankReport& rank : ranks) {
    rank.relative_to_fastest = fastest_ms > 0
                                   ? Measured<double>(*rank.own_step_ms / fastest_ms)
                                   : Measured<double>::missing("own_step_ms is not above 0");
  }
}

}  // namespace

std::vector<RankReport> make_ranks(const Evidence& evidence) {
  std::vector<RankReport> ranks;
  for (const RankPlan& planned : evidence.plan.ranks) {
    RankReport rank;
    rank.rank = planned.rank;
    rank.devices = planned.devices;
    rank.host = planned.host;
    rank.numa_node = planned.numa_node;
    rank.cpus = planned.cpus;
    if (const WorkerRecords* records = evidence.of_rank(planned.rank)) {
      add_records(*records, evidence.plan.ranks.size(), rank);
    } else {
      add_missing_records(rank);
    }
    add_end(evidence, rank);
    ranks.push_back(std::move(rank));
  }
  compare_ranks(ranks);
  return ranks;
}

}  // namespace falcon::report
