#include "analysis/page_groups.h"

#include <algorithm>
#include <utility>

namespace falcon::analysis {
namespace {

constexpr const char* kPaperBase = "localGPUs";

bool is_paper_base(const RunGroup& group) {
  return group.name.starts_with(kPaperBase) && group.name.find(" + ") == std::string::npos;
}

std::size_t base_of(const std::vector<PageGroup>& groups, std::size_t index) {
  std::size_t base = index;
  bool has_paper_base = false;
  for (std::size_t i = groups.size(); i-- > 0;) {
    const RunGroup& group = groups[i].grouped.group;
    if (group.work != groups[index].grouped.group.work || group.runs == 0) continue;
    if (is_paper_base(group)) {
      base = i;
      has_paper_base = true;
    } else if (!has_paper_base) {
      base = i;
    }
  }
  return base;
}

}  // namespace

std::vector<PageGroup> page_groups(const std::vector<PageRun>& runs,
                                   const std::vector<RunFacts>& facts) {
  std::vector<GroupedRuns> grouped = group_repeats(facts);
  name_groups(grouped);
  std::stable_sort(grouped.begin(), grouped.end(),
                   [](const auto& a, const auto& b) { return a.group.model < b.group.model; });
  std::vector<PageGroup> groups;
  for (GroupedRuns& one : grouped) {
    PageGroup group;
    for (const RunFacts* run : one.counted) {
      group.counted.push_back(&runs[static_cast<std::size_t>(run - facts.data())]);
    }
    group.grouped = std::move(one);
    groups.push_back(std::move(group));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].base = base_of(groups, i);
  return groups;
}

}  // namespace falcon::analysis
