// The traces of all ranks as one file of Chrome trace events, which Perfetto and chrome://tracing
// show (the "Trace Event Format": complete events, microseconds).
#pragma once
#include <string>

#include "falconbench/measured.h"
#include "falconbench/plan.h"
#include "falconbench/run_log.h"

namespace falcon::report {

/// `<report>.trace`: without the report's .json.
std::string trace_path(const std::string& report_path);
/// JSON; one process a rank, one thread a track. All ranks are on one timeline, which begins with
/// the first rank's traced steps. REQUIRES: a rank with a trace.
std::string trace_text(const Plan& plan, const RunLog& log);
/// Writes it, where there is a trace. Missing: why there is no such file.
Measured<std::string> write_trace(const std::string& report_path, const Plan& plan,
                                  const RunLog& log);

}  // namespace falcon::report
