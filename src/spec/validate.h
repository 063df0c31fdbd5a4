// Rules between the keys of one spec that need no host: contradictions, and keys without effect.
#pragma once
#include <vector>

#include "base/value.h"
#include "falconbench/errors.h"
#include "falconbench/run_spec.h"

namespace falcon::spec {

/// Adds a fault, with the keys on both sides named, for each rule that spec breaks. tree: what spec
/// was read from; faults: those of reading it (keys named there are left alone).
void validate(const RunSpec& spec, const base::Value& tree, std::vector<Fault>& faults);

}  // namespace falcon::spec
