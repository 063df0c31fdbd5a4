// Where the devices sit between which links are measured.
#pragma once
#include "plan/placement.h"
#include "report/links/input.h"

namespace falcon::cli {

/// Fills devices, places and bridges of the input. REQUIRES: placement is of input.host and
/// input.system.
void find_link_places(const plan::Placement& placement, report::LinksInput& input);

}  // namespace falcon::cli
