#include "analysis/run_groups.h"

#include <cmath>
#include <set>

namespace falcon::analysis {
namespace {

using Keys = std::map<std::string, std::string>;

std::string value_of(const Keys& keys, const std::string& key) {
  const auto found = keys.find(key);
  return found == keys.end() ? "" : found->second;
}

std::set<std::string> differing_keys(const Keys& a, const Keys& b) {
  std::set<std::string> keys;
  for (const auto& [key, text] : a) {
    if (const auto found = b.find(key); found == b.end() || found->second != text) keys.insert(key);
  }
  for (const auto& [key, text] : b) {
    if (!a.contains(key)) keys.insert(key);
  }
  return keys;
}

void add_differences(const Keys& base, const Keys& other, bool is_work,
                     std::vector<SpecDifference>& out) {
  for (const std::string& key : differing_keys(base, other)) {
    out.push_back({key, value_of(base, key), value_of(other, key), is_work});
  }
}

GroupedRuns new_group(const RunFacts& run) {
  GroupedRuns made;
  made.group.model = run.model;
  made.group.name = configuration_name(run);
  made.group.work = run.work;
  made.group.settings = run.settings;
  made.group.circumstances = {{"tool.revision", run.revision},
                              {"run.hostname", run.hostname},
                              {"devices", run.devices_text}};
  return made;
}

/// Circumstances that differ within a group are no single value.
void merge_circumstances(const RunFacts& run, Keys& circumstances) {
  const Keys of_run = new_group(run).group.circumstances;
  for (auto& [key, text] : circumstances) {
    if (text != of_run.at(key)) text = "several";
  }
}

void summarize_group(GroupedRuns& runs) {
  RunGroup& group = runs.group;
  for (const RunFacts* run : runs.counted) group.samples_per_s.push_back(*run->samples_per_s);
  group.runs = static_cast<int>(runs.counted.size());
  group.sample_time_ms = group_mean(runs, &RunFacts::sample_time_ms);
  double squares = 0;
  for (const RunFacts* run : runs.counted) {
    if (!run->step_ci95_ms.has_value() || !run->step_ms.has_value()) {
      group.relative_ci95 = Measured<double>::missing(
          run->step_ci95_ms.has_value() ? run->step_ms.reason : run->step_ci95_ms.reason);
      return;
    }
    const double ratio = *run->step_ci95_ms / *run->step_ms;
    squares += ratio * ratio;
  }
  group.relative_ci95 = group.runs == 0 ? Measured<double>::missing("no run that ended well")
                                        : Measured<double>(std::sqrt(squares / group.runs));
}

bool counts(const RunFacts& run) {
  return run.status == "ok" && run.samples_per_s.has_value() && *run.samples_per_s > 0;
}

}  // namespace

std::vector<GroupedRuns> group_repeats(const std::vector<RunFacts>& runs) {
  std::vector<GroupedRuns> groups;
  for (const RunFacts& run : runs) {
    GroupedRuns* found = nullptr;
    for (GroupedRuns& group : groups) {
      if (group.group.work == run.work && group.group.settings == run.settings) found = &group;
    }
    if (found == nullptr) found = &groups.emplace_back(new_group(run));
    merge_circumstances(run, found->group.circumstances);
    found->group.files.push_back(run.file);
    found->group.emulated = found->group.emulated || run.emulated;
    if (counts(run)) {
      found->counted.push_back(&run);
    } else {
      ++found->group.failed;
    }
  }
  for (GroupedRuns& group : groups) summarize_group(group);
  return groups;
}

Measured<double> group_mean(const GroupedRuns& group, const Measured<double> RunFacts::*figure) {
  if (group.counted.empty()) return Measured<double>::missing("no run that ended well");
  double sum = 0;
  for (const RunFacts* run : group.counted) {
    if (!(run->*figure).has_value()) return run->*figure;
    sum += *(run->*figure);
  }
  return sum / static_cast<double>(group.counted.size());
}

void name_groups(std::vector<GroupedRuns>& groups) {
  std::vector<std::set<std::string>> telling(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const GroupedRuns& other : groups) {
      const RunGroup& group = groups[i].group;
      if (other.group.model != group.model || other.group.name != group.name) continue;
      telling[i].merge(differing_keys(group.work, other.group.work));
      telling[i].merge(differing_keys(group.settings, other.group.settings));
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    RunGroup& group = groups[i].group;
    for (const std::string& key : telling[i]) {
      // options of a word (parallelism.ddp.bucket_mb) tell nothing beside the word
      if (telling[i].contains(key.substr(0, key.find('.'))) && key.find('.') != key.npos) continue;
      const Keys& keys = group.work.contains(key) ? group.work : group.settings;
      if (keys.contains(key)) group.name += ", " + key + "=" + keys.at(key);
    }
  }
}

std::vector<SpecDifference> differences_of(const RunGroup& base, const RunGroup& other) {
  std::vector<SpecDifference> out;
  add_differences(base.work, other.work, true, out);
  add_differences(base.settings, other.settings, false, out);
  add_differences(base.circumstances, other.circumstances, false, out);
  return out;
}

}  // namespace falcon::analysis
