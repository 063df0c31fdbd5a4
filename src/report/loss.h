// The training loss over the global batch, step by step.
#pragma once
#include "falconbench/report_training.h"
#include "report/evidence.h"

namespace falcon::report {

inline constexpr std::size_t kMaxLossPoints = 3000;

/// Mean over the ranks of each step (their slices are equally large). A value that is not finite
/// becomes null with a reason, and so does the point that it falls into.
Loss make_loss(const Evidence& evidence);

}  // namespace falcon::report
