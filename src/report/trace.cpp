#include "report/trace.h"

namespace falcon::report {

Measured<TraceFigures> make_trace(const Evidence& evidence, const Measured<std::string>& file) {
  if (!file.has_value()) return Measured<TraceFigures>::missing(file.reason);
  TraceFigures out;
  out.file = *file;
  double ranks = 0, busy_pct = 0;
  std::string why_not;
  for (const WorkerRecords* rank : evidence.records) {
    if (!rank->trace.has_value()) continue;
    const TraceRecord& trace = *rank->trace;
    ranks += 1;
    out.steps = trace.steps;
    out.step_ms += 1e3 * (trace.end_s - trace.begin_s) / static_cast<double>(trace.steps);
    out.events += static_cast<std::int64_t>(trace.track.size());
    busy_pct += trace.gpu_busy_pct.value.value_or(0);
    if (!trace.gpu_busy_pct.has_value()) why_not = trace.gpu_busy_pct.reason;
  }
  out.step_ms /= ranks;
  out.gpu_busy_pct =
      why_not.empty() ? Measured<double>(busy_pct / ranks) : Measured<double>::missing(why_not);
  return out;
}

}  // namespace falcon::report
