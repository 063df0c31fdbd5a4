// The name of what a run does.
#pragma once
#include <string>

#include "falconbench/run_spec.h"

namespace falcon::spec {

/// The spec without name, output, timeout_s and telemetry as JSON in one line with sorted keys.
std::string canonical_json(const RunSpec& resolved);
/// SHA-256 of canonical_json, in hex: two runs with the same hash were asked for the same work.
std::string spec_hash(const RunSpec& resolved);

}  // namespace falcon::spec
