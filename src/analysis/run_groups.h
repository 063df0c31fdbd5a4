// Runs into groups of repeats, and the figures of a group.
#pragma once
#include <string>
#include <vector>

#include "analysis/compare.h"
#include "analysis/run_facts.h"

namespace falcon::analysis {

struct GroupedRuns {
  RunGroup group;
  std::vector<const RunFacts*> counted;  // ended well, with a throughput
};

/// Groups in the order of their first run. The runs must outlive the result.
std::vector<GroupedRuns> group_repeats(const std::vector<RunFacts>& runs);

/// Mean of a figure over the runs that count; missing when one of them lacks it.
Measured<double> group_mean(const GroupedRuns& group, const Measured<double> RunFacts::*figure);

/// Gives each group a name: configuration_name, and those settings by which groups of the same name
/// differ.
void name_groups(std::vector<GroupedRuns>& groups);

/// Keys whose values differ, work first. A key that one side lacks counts as differing.
std::vector<SpecDifference> differences_of(const RunGroup& base, const RunGroup& other);

}  // namespace falcon::analysis
