// The charts of the page, each from the groups of runs. Pure.
#pragma once
#include <vector>

#include "analysis/charts.h"
#include "analysis/compare.h"
#include "analysis/page_groups.h"

namespace falcon::analysis {

/// By configuration, one bar a group: relative training time (the paper's Fig 11), GPU figures
/// (10), PCIe traffic (12), CPU (13), host memory (14), storage (16), the software study, energy
/// and cost.
void add_bar_charts(const std::vector<PageGroup>& groups, const Price& price,
                    std::vector<Chart>& out);

/// Phase split, distribution of step times, GPU utilisation over time (Fig 9).
void add_step_charts(const std::vector<PageGroup>& groups, std::vector<Chart>& out);

/// A row for the group with its panel, label and runs, without values.
ChartRow row_of(const PageGroup& group);

}  // namespace falcon::analysis
