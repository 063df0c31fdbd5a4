// What `doctor --json` prints of a machine: one object, each answer under its own name, or null
// with NAME_reason.
#pragma once
#include "base/value.h"
#include "platform/machine/machine.h"

namespace falcon::platform {

/// Names and forms of the answers: README.md lists the main ones.
base::Value answers_of(const Machine& machine, const Dump& dump);

}  // namespace falcon::platform
