// Where the devices sit between which links are measured.
#pragma once
#include "falconbench/system_file.h"
#include "plan/placement.h"
#include "platform/nvml.h"
#include "report/links/input.h"

namespace falcon::cli {

/// Fills devices, paths, classes and bridges of the input. REQUIRES: input.host and input.system;
/// placement is of them.
void find_link_places(const plan::Placement& placement, const platform::Nvml& nvml,
                      report::LinksInput& input);

}  // namespace falcon::cli
