// The input pipeline of all ranks together.
#pragma once
#include "falconbench/report_phases.h"
#include "report/evidence.h"

namespace falcon::report {

/// Sums over the ranks whose records came in; the capacity is missing when one rank's is.
Input make_input(const Evidence& evidence);

}  // namespace falcon::report
