// The runs of the page in groups of repeats, each with its base.
#pragma once
#include <vector>

#include "analysis/page_run.h"
#include "analysis/run_groups.h"

namespace falcon::analysis {

struct PageGroup {
  GroupedRuns grouped;
  std::vector<const PageRun*> counted;  // as grouped.counted
  std::size_t base = 0;                 // index of the group it is compared with; may be itself
};

/// Groups of repeats in the order of model, then of the first run. The base of a group has its
/// work: on localGPUs without a named storage where there is one, else the first. facts: those of
/// runs, in their order; both must outlive the result.
std::vector<PageGroup> page_groups(const std::vector<PageRun>& runs,
                                   const std::vector<RunFacts>& facts);

}  // namespace falcon::analysis
