// The lines of the summary that show where time and devices went.
#pragma once
#include "falconbench/report.h"
#include "report/summary_lines.h"

namespace falcon::report {

/// Shares of the step in percent and as a bar of letters (. for other and what is missing); missing
/// phases are named. REQUIRES: step_ms > 0.
void add_phase_lines(const Phases& phases, double step_ms, Lines& lines);
/// GPU and host; one line each.
void add_utilization_lines(const Report& report, Lines& lines);

}  // namespace falcon::report
