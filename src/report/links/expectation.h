// What a link should reach: by its kind, and by the system file. Pure.
#pragma once
#include <string>

#include "report/links/input.h"

namespace falcon::report {

/// Of two GPUs. path and pair_class: as in LinkPair.
LinkExpectation pair_expectation(const LinksInput& input, int source, int target,
                                 const Measured<std::string>& path, const std::string& pair_class);
/// Of a GPU and host memory.
LinkExpectation host_expectation(const LinksInput& input, int device);
/// Of a link that several GPUs share, one way; its name as HostCopiesTogether::name.
Measured<double> expected_of_uplink(const LinksInput& input, const std::string& name);

}  // namespace falcon::report
