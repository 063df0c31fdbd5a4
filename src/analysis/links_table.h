// What `falconbench links` measured, read back, as figures of the page and as fabrics to predict
// for.
#pragma once
#include <string>
#include <vector>

#include "analysis/charts.h"
#include "analysis/predict/fabric.h"
#include "falconbench/links.h"

namespace falcon::analysis {

/// As read_report(): unknown keys are passed over; throws InputError naming file and place.
LinksReport read_links(const std::string& path);

/// The links of one set of GPUs: all (of the table), host_staged (all of them, without direct
/// access), localGPUs, falconGPUs or hybridGPUs by their attach. Where the collectives were
/// measured over just this set, those are taken; else a ring over its GPUs in the order of the
/// table, at the slowest of its hops, times what the measured collectives reach of theirs. Throws
/// Error(kUsage) when the table has no such GPUs or figures.
Fabric fabric_of(const LinksReport& links, const std::string& topology);
/// How many GPUs of the table belong to the set.
int devices_in(const LinksReport& links, const std::string& topology);

/// A matrix of pairs, and the table by class (the paper's Table IV).
void add_link_figures(const LinksReport& links, std::vector<Chart>& charts,
                      std::vector<PageTable>& tables);

}  // namespace falcon::analysis
