// Rules between the keys of telemetry.
#pragma once
#include <vector>

#include "base/value.h"
#include "falconbench/errors.h"
#include "falconbench/spec_telemetry.h"

namespace falcon::spec {

/// As validate(), whose rules are about the rest of a spec. No message repeats an address, which
/// could hold a secret.
void validate_telemetry(const TelemetrySpec& spec, const base::Value& tree,
                        std::vector<Fault>& faults);

}  // namespace falcon::spec
