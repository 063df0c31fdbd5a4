// Where the devices of a run sit: what is declared against what the host shows. Pure.
#pragma once
#include <string>
#include <vector>

#include "falconbench/finding.h"
#include "falconbench/places.h"
#include "plan/placement.h"

namespace falcon::plan {

/// emulates: GPUs marked emulated play their part; otherwise the mark is left aside. storage: the
/// spec's, may be empty.
Places make_places(const Placement& placement, const Host& host, const SystemFile& system,
                   bool emulates, const std::string& storage);

/// Where a GPU sits as far as a system file says it; why: what is said of the rest.
GpuPlace declared_place(const std::string& name, const SystemGpu& facts, const char* why);

/// The class of two GPUs, a word of catalog::pair_classes(); missing where a place is not known.
Measured<std::string> pair_class(const GpuPlace& a, const GpuPlace& b);

/// What stands out: drawers with fewer GPUs than declared, narrow and slow host links, a shared
/// one.
std::vector<Finding> find_in_places(const Places& places, const Host& host,
                                    const SystemFile& system);

}  // namespace falcon::plan
