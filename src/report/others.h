// The other hosts of a run in its report.
#pragma once
#include <vector>

#include "report/make.h"

namespace falcon::report {

/// Adds what they are and what was sampled there: GPUs to those of the first host, host readings
/// beside them, series under the host's name. began_s: the zero of the report's series.
void add_others(const std::vector<OtherHost>& others, double began_s, Report& report);

}  // namespace falcon::report
