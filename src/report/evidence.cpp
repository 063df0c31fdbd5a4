#include "report/evidence.h"

#include <algorithm>

#include "measure/window.h"

namespace falcon::report {
namespace {

std::string gap_of(const Evidence& evidence) {
  if (evidence.records.empty()) return "no worker sent records";
  for (const RankPlan& rank : evidence.plan.ranks) {
    const WorkerRecords* records = evidence.of_rank(rank.rank);
    const std::string who = "rank " + std::to_string(rank.rank);
    if (records == nullptr) return who + " sent no records";
    if (records->step_ms.empty()) return who + " measured no steps";
  }
  return "";
}

/// Time of the pauses before the end of the measured steps.
double paused_s(const WorkerRecords& rank) {
  double sum_s = 0;
  for (const PauseRecord& pause : rank.pauses) {
    if (pause.begin_s < rank.measured_end_s) sum_s += pause.end_s - pause.begin_s;
  }
  return sum_s;
}

}  // namespace

Evidence::Evidence(const Plan& the_plan, const RunLog& the_log) : plan(the_plan), log(the_log) {
  for (const auto& rank : log.records) {
    if (rank) records.push_back(&*rank);
  }
  gap_ = gap_of(*this);
  if (!gap_.empty()) return;
  std::vector<measure::RankSteps> ranks;
  begin_s = records.front()->measured_begin_s;
  end_s = records.front()->measured_end_s;
  double worked_until_s = begin_s;  // on a clock that stands still in pauses, as joined_steps_ms()
  for (const WorkerRecords* rank : records) {
    ranks.push_back({rank->measured_begin_s, rank->step_ms});
    begin_s = std::min(begin_s, rank->measured_begin_s);
    end_s = std::max(end_s, rank->measured_end_s);
    worked_until_s = std::max(worked_until_s, rank->measured_end_s - paused_s(*rank));
  }
  measured_s_ = worked_until_s - begin_s;
  steps_ms = measure::joined_steps_ms(ranks);
}

const WorkerRecords* Evidence::of_rank(int rank) const {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [rank](const WorkerRecords* r) { return r->rank == rank; });
  return found == records.end() ? nullptr : *found;
}

}  // namespace falcon::report
