#include "analysis/compare.h"

#include <algorithm>
#include <array>
#include <set>

#include "analysis/run_groups.h"
#include "base/text.h"
#include "falconbench/errors.h"
#include "measure/significance.h"

namespace falcon::analysis {
namespace {

struct Column {
  const char* name;
  const char* unit;
  const Measured<double> RunFacts::*figure;
};
constexpr std::array kColumns{
    Column{"throughput", "samples/s", &RunFacts::samples_per_s},
    Column{"step", "ms", &RunFacts::step_ms},
    Column{"exposed communication", "ms", &RunFacts::communication_exposed_ms},
    Column{"PCIe traffic", "bytes/s", &RunFacts::pcie_bytes_per_s},
    Column{"GPU busy", "%", &RunFacts::gpu_busy_pct},
    Column{"GPU memory access", "%", &RunFacts::gpu_memory_busy_pct},
    Column{"CPU busy", "%", &RunFacts::cpu_pct},
    Column{"energy a sample", "J", &RunFacts::energy_j_per_sample},
    Column{"energy an epoch", "J", &RunFacts::energy_j_per_epoch}};

FigureChange change_of(const std::string& name, const std::string& unit,
                       const Measured<double>& base, const Measured<double>& other) {
  FigureChange out{name, unit, base, other, {}};
  if (!base.has_value() || !other.has_value()) {
    out.change_pct = Measured<double>::missing(base.has_value() ? other.reason : base.reason);
  } else if (*base == 0) {
    out.change_pct = Measured<double>::missing("the base is 0");
  } else {
    out.change_pct = 100 * (*other / *base - 1);
  }
  return out;
}

Measured<double> group_cost(const GroupedRuns& group, const Price& price) {
  double sum = 0;
  for (const RunFacts* run : group.counted) {
    const Measured<double> cost = samples_per_price(*run, price);
    if (!cost.has_value()) return cost;
    sum += *cost;
  }
  if (group.counted.empty()) return Measured<double>::missing("no run that ended well");
  return sum / static_cast<double>(group.counted.size());
}

std::vector<double> sample_times(const GroupedRuns& group) {
  std::vector<double> out;
  for (const RunFacts* run : group.counted) {
    if (run->sample_time_ms.has_value()) out.push_back(*run->sample_time_ms);
  }
  return out;
}

void add_time(const GroupedRuns& base, const GroupedRuns& other, Comparison& out) {
  const FigureChange time =
      change_of("", "", base.group.sample_time_ms, other.group.sample_time_ms);
  out.time_change_pct = time.change_pct;
  out.time_ratio = time.change_pct;
  if (time.change_pct.has_value()) out.time_ratio = *time.other / *time.base;
  const std::vector<double> base_times = sample_times(base);
  const std::vector<double> other_times = sample_times(other);
  if (base_times.size() < 2 || other_times.size() < 2 || !out.time_ratio.has_value()) {
    out.time_ratio_low = out.time_ratio_high =
        Measured<double>::missing("one run on a side has no spread");
    return;
  }
  const measure::Interval interval = measure::bootstrap_ratio_95(other_times, base_times);
  out.time_ratio_low = interval.low;
  out.time_ratio_high = interval.high;
}

Comparison compare_groups(const GroupedRuns& base, const GroupedRuns& other,
                          const CompareOptions& options) {
  Comparison out;
  out.base = base.group;
  out.other = other.group;
  out.differences = differences_of(base.group, other.group);
  add_time(base, other, out);
  for (const Column& column : kColumns) {
    out.figures.push_back(change_of(column.name, column.unit, group_mean(base, column.figure),
                                    group_mean(other, column.figure)));
  }
  if (options.price.per_gpu_hour) {
    out.figures.push_back(change_of("samples for the price", "samples/" + options.price.currency,
                                    group_cost(base, options.price),
                                    group_cost(other, options.price)));
  }
  if (base.counted.empty() || other.counted.empty()) {
    const RunGroup& empty = base.counted.empty() ? base.group : other.group;
    out.speed = Measured<GateResult>::missing("none of the " + std::to_string(empty.failed) +
                                              " runs of " + empty.name + " ended well");
    return out;
  }
  out.speed = judge({base.group.samples_per_s, base.group.relative_ci95},
                    {other.group.samples_per_s, other.group.relative_ci95},
                    {options.gate.value_or(0), options.significance});
  if (!options.gate) {
    out.speed.value->verdict = "not gated";
    out.speed.value->why.clear();
  }
  return out;
}

bool same_place(const RunGroup& a, const RunGroup& b) {
  return a.settings.at("topology") == b.settings.at("topology") &&
         a.settings.at("storage") == b.settings.at("storage");
}

/// The base that a group belongs to, or nullptr.
const GroupedRuns* base_for(const GroupedRuns& other, const std::vector<GroupedRuns>& bases) {
  const GroupedRuns* first = nullptr;
  const GroupedRuns* placed = nullptr;
  for (const GroupedRuns& base : bases) {
    if (base.group.work != other.group.work) continue;
    if (base.group.settings == other.group.settings) return &base;
    if (placed == nullptr && same_place(base.group, other.group)) placed = &base;
    if (first == nullptr) first = &base;
  }
  return placed != nullptr ? placed : first;
}

[[noreturn]] void refuse_work(const RunGroup& base, const RunGroup& other) {
  std::string message = other.files.front() + " did different work than " + base.files.front() +
                        " (--force compares them nevertheless):";
  for (const SpecDifference& difference : differences_of(base, other)) {
    if (!difference.is_work) continue;
    message += "\n  " + difference.key + ": " + base::printable(difference.base) + " and " +
               base::printable(difference.other);
  }
  throw Error(ExitCode::kUsage, message);
}

/// Without a named base: of each work the group where the first report's topology and storage are.
std::vector<GroupedRuns> take_bases(std::vector<GroupedRuns>& groups) {
  const RunGroup first = groups.front().group;
  std::vector<GroupedRuns> bases;
  std::vector<GroupedRuns> others;
  for (GroupedRuns& group : groups) {
    const bool has_base = std::any_of(bases.begin(), bases.end(), [&group](const auto& base) {
      return base.group.work == group.group.work;
    });
    (!has_base && same_place(first, group.group) ? bases : others).push_back(std::move(group));
  }
  groups = std::move(others);
  return bases;
}

struct Sides {
  std::vector<GroupedRuns> bases, others;
};

Sides sides_of(const std::vector<RunFacts>& base, const std::vector<RunFacts>& others) {
  Sides sides{group_repeats(base), group_repeats(others)};
  if (sides.bases.empty()) sides.bases = take_bases(sides.others);
  std::vector<GroupedRuns> all = sides.bases;
  all.insert(all.end(), sides.others.begin(), sides.others.end());
  name_groups(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t number = sides.bases.size();
    (i < number ? sides.bases[i] : sides.others[i - number]).group.name = all[i].group.name;
  }
  return sides;
}

std::string verdict_of_all(const CompareResult& result) {
  if (!result.has_gate) return "not gated";
  std::set<std::string> verdicts;
  for (const Comparison& comparison : result.comparisons) {
    verdicts.insert(comparison.speed.value->verdict);
  }
  for (const char* word : {"regression", "unclear"}) {
    if (verdicts.contains(word)) return word;
  }
  return "ok";
}

}  // namespace

Measured<double> samples_per_price(const RunFacts& run, const Price& price) {
  if (!price.per_gpu_hour) return Measured<double>::missing("no price was given");
  if (!run.has_gpus) return Measured<double>::missing("the run used no GPU");
  if (!run.samples_per_s.has_value()) return run.samples_per_s;
  return *run.samples_per_s * 3600 / (*price.per_gpu_hour * run.devices);
}

CompareResult compare(const std::vector<RunFacts>& base, const std::vector<RunFacts>& others,
                      const CompareOptions& options) {
  if (others.empty() || base.size() + others.size() < 2) {
    throw Error(ExitCode::kUsage, "nothing to compare: give at least two reports");
  }
  Sides sides = sides_of(base, others);
  std::vector<RunFacts> first;  // groups point into these
  std::vector<RunFacts> rest;
  if (base.empty() && sides.others.empty() && sides.bases.size() == 1) {
    first = {others.front()};
    rest = {others.begin() + 1, others.end()};
    sides = sides_of(first, rest);
  }
  CompareResult out;
  out.has_gate = options.gate.has_value();
  for (const GroupedRuns& other : sides.others) {
    const GroupedRuns* own = base_for(other, sides.bases);
    if (own == nullptr && !options.force) refuse_work(sides.bases.front().group, other.group);
    if (own == nullptr) own = &sides.bases.front();
    out.comparisons.push_back(compare_groups(*own, other, options));
    const Measured<GateResult>& speed = out.comparisons.back().speed;
    if (options.gate && !speed.has_value()) throw Error(ExitCode::kUsage, speed.reason);
  }
  if (sides.others.empty()) {  // every group is the base of a work of its own
    if (!options.force) refuse_work(sides.bases[0].group, sides.bases[1].group);
    for (std::size_t i = 1; i < sides.bases.size(); ++i) {
      out.comparisons.push_back(compare_groups(sides.bases[0], sides.bases[i], options));
    }
  }
  out.verdict = verdict_of_all(out);
  return out;
}

}  // namespace falcon::analysis
