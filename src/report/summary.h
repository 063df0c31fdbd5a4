// What a person reads at the end of a run: about 15 lines of plain text, 80 columns.
#pragma once
#include <string>

#include "falconbench/report.h"

namespace falcon::report {

/// Ends in a newline. Status first, findings and the place of the report last; what is missing is
/// shown as n/a with its reason. path: of the report file. Colours (ANSI) only when asked for.
std::string summary(const Report& report, const std::string& path, bool use_colour);

}  // namespace falcon::report
