// What one device will hold, estimated before the run. Pure.
#pragma once
#include <cstdint>

#include "falconbench/catalog.h"
#include "falconbench/plan.h"

namespace falcon::plan {

/// REQUIRES: a resolved spec. batch: samples of one forward pass of a
/// device. The formulas stand in
/// MemoryEstimate::basis.
MemoryEstimate estimate_memory(const RunSpec& spec, const ModelFacts& model, std::int64_t batch,
                               std::int64_t devices);

}  // namespace falcon::plan
