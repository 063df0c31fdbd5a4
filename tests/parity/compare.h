// The rules that hold measured values against the sections of a reference file.
#pragma once
#include <string>
#include <vector>

#include "parity/measured.h"
#include "support/reference_set.h"

namespace falcon::test {

/// The sections of a model file that are compared, in the order of their cost. `taps` is a part of
/// eval_small.
const std::vector<std::string>& sections();

/// Whether there are models whose file has no such section.
bool is_optional(const std::string& section);

/// A section that the file lacks gives a comparison without rows, which counts as failed.
Comparison compare(const Json& file, const std::string& section, const Measured& measured,
                   const Precision& precision);

}  // namespace falcon::test
