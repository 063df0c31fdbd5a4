// Reports side by side: which configuration is slower than which, by how much, and how sure that
// is. Pure.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/gate.h"
#include "analysis/run_facts.h"

namespace falcon::analysis {

/// Price of one GPU for an hour; without it the cost is missing.
struct Price {
  std::optional<double> per_gpu_hour;
  std::string currency;
};

/// Runs that repeat each other: the same work and settings on one side of the comparison.
struct RunGroup {
  std::string model, name;
  std::map<std::string, std::string> work, settings, circumstances;
  std::vector<std::string> files;
  int runs = 0, failed = 0;
  bool emulated = false;
  std::vector<double> samples_per_s;
  Measured<double> sample_time_ms, relative_ci95;
};
template <class V>
void visit_fields(RunGroup& g, V& v) {
  v.field("model", g.model, "model");
  v.field("name", g.name, "topology, storage, and the settings that tell it from the others");
  v.field("work", g.work, "what was trained");
  v.field("settings", g.settings, "how it was trained");
  v.field("circumstances", g.circumstances, "program, host and devices");
  v.field("files", g.files, "its reports, also of failed runs");
  v.field("runs", g.runs, "runs that ended well and have a throughput: only these count");
  v.field("failed", g.failed, "runs that did not");
  v.field("emulated", g.emulated, "an effect of the chassis was imposed");
  v.field("samples_per_s", g.samples_per_s, "of each run that counts");
  v.field("sample_time_ms", g.sample_time_ms, "training time over samples, mean of the runs");
  v.field(
      "relative_ci95", g.relative_ci95,
      "half width of the mean step's 95 % interval over the mean: root mean square of the runs");
}

struct SpecDifference {
  std::string key, base, other;
  bool is_work = false;
};
template <class V>
void visit_fields(SpecDifference& d, V& v) {
  v.field("key", d.key, "spec key, or tool.revision, run.hostname, devices");
  v.field("base", d.base, "its value in the base; empty: not set");
  v.field("other", d.other, "its value here");
  v.field("is_work", d.is_work, "it changes what is trained, not only how");
}

/// One figure of both sides, means over their runs.
struct FigureChange {
  std::string name, unit;
  Measured<double> base, other, change_pct;
};
template <class V>
void visit_fields(FigureChange& f, V& v) {
  v.field("name", f.name, "what it is");
  v.field("unit", f.unit, "its unit");
  v.field("base", f.base, "mean over the runs of the base");
  v.field("other", f.other, "mean over the runs");
  v.field("change_pct", f.change_pct, "other / base - 1, percent");
}

struct Comparison {
  RunGroup base, other;
  std::vector<SpecDifference> differences;
  Measured<double> time_ratio, time_change_pct, time_ratio_low, time_ratio_high;
  std::vector<FigureChange> figures;
  Measured<GateResult> speed;
};
template <class V>
void visit_fields(Comparison& c, V& v) {
  v.field("base", c.base, "what it is compared with");
  v.field("other", c.other, "what is compared");
  v.field("differences", c.differences, "of the specs and circumstances");
  v.field("time_ratio", c.time_ratio, "training time for the same samples / that of the base");
  v.field("time_change_pct", c.time_change_pct, "slowdown: (time_ratio - 1) in percent");
  v.field("time_ratio_low", c.time_ratio_low, "95 % interval of the ratio, bootstrap over runs");
  v.field("time_ratio_high", c.time_ratio_high, "its upper end");
  v.field("figures", c.figures, "the other figures");
  v.field("speed", c.speed, "slowdown by samples_per_s, how sure it is, and the gate's verdict");
}

struct CompareOptions {
  bool force = false;  // compare different work, too
  std::optional<double> gate{};
  double significance = 0.05;
  Price price{};
};

struct CompareResult {
  bool has_gate = false;
  std::string verdict;  // of all: not gated, ok, regression or unclear
  std::vector<Comparison> comparisons;
};
template <class V>
void visit_fields(CompareResult& r, V& v) {
  v.field("has_gate", r.has_gate, "--gate was given");
  v.field("verdict", r.verdict, "regression when any comparison is one, else unclear, else ok");
  v.field("comparisons", r.comparisons, "each configuration with its base");
}

/// base: what the others are compared with. Empty: the first of others and its repeats are, unless
/// nothing but repeats is there; then the first alone is. A group is compared with the base of its
/// own work: the one with the same settings, else with the same topology and storage, else (with
/// force, or when there is only one) the first. Throws Error(kUsage) listing the differing keys
/// when a group has no base of its work (unless forced), when nothing is left to compare, and with
/// a gate when a side has no run that counts.
CompareResult compare(const std::vector<RunFacts>& base, const std::vector<RunFacts>& others,
                      const CompareOptions& options);

/// Cost in samples per currency unit of one run; missing without a price or without GPUs.
Measured<double> samples_per_price(const RunFacts& run, const Price& price);

}  // namespace falcon::analysis
