// What a link should reach: by its kind, and by the system file. Pure.
#pragma once
#include <string>

#include "report/links/input.h"

namespace falcon::report {

/// Of two GPUs. pair_class: as LinkPair::pair_class.
LinkExpectation pair_expectation(const LinksInput& input, int source, int target,
                                 const std::string& pair_class);
/// Of a GPU and host memory.
LinkExpectation host_expectation(const LinksInput& input, int device);

}  // namespace falcon::report
