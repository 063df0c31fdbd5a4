// The other hosts of a run in its report.
#pragma once
#include <vector>

#include "report/evidence.h"
#include "report/make.h"

namespace falcon::report {

/// Adds what they are and what their launchers saw: GPUs to those of the first host, host readings
/// and storage beside them, series under the host's name. began_s: the zero of the report's series.
/// REQUIRES: storage of the first host is made.
void add_others(const std::vector<OtherHost>& others, const Evidence& evidence, double began_s,
                Report& report);

}  // namespace falcon::report
