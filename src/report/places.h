// Where the run took place: ranks, topology, storage. Pure.
#pragma once
#include <vector>

#include "falconbench/report_places.h"
#include "report/evidence.h"

namespace falcon::report {

/// One entry for each planned rank, also of those that never started.
std::vector<RankReport> make_ranks(const Evidence& evidence);

/// The verdict compares what the ranks say they computed on with what was planned. A set named by a
/// system file promises an attach (local or in the chassis) as well, which nothing here can prove:
/// unknown.
Topology make_topology(const Evidence& evidence);

}  // namespace falcon::report
