// The report's training.trace.
#pragma once
#include <string>

#include "falconbench/measured.h"
#include "falconbench/records_trace.h"
#include "report/evidence.h"

namespace falcon::report {

/// file: where the trace was written, or why it was not.
Measured<TraceFigures> make_trace(const Evidence& evidence, const Measured<std::string>& file);

}  // namespace falcon::report
