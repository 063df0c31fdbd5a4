// Where the time of a step went: exposed phases and the gradient exchange.
#pragma once
#include "falconbench/report_training.h"
#include "report/evidence.h"

namespace falcon::report {

/// Fills phases_ms and phases_reason. A phase is the mean over the ranks of each step (so that the
/// phases sum to the step), given only when every rank has it for every step.
void add_phases(const Evidence& evidence, Training& out);

/// Bandwidths as nccl-tests define them for all-reduce (NVIDIA/nccl-tests, doc/PERFORMANCE.md).
/// All missing for one rank: nothing is exchanged.
Communication make_communication(const Evidence& evidence, const Phases& phases);

}  // namespace falcon::report
