// Is today slower than yesterday? The decision of `compare --gate`.
#pragma once
#include <span>
#include <string>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon::analysis {

/// The runs of one side: samples_per_s of each, and how far its own steps let it be trusted.
struct Side {
  std::span<const double> samples_per_s;
  /// Half width of the 95 % interval of the mean step over that mean, typical of the runs; missing
  /// with its reason.
  Measured<double> relative_ci95;
};

struct GateRule {
  double limit = 0;            // slowdown above which an alarm is given, as a ratio: 0.05
  double significance = 0.05;  // one-sided
};

/// time / time of the base - 1 and what it rests on. p: how likely runs this slow are without any
/// change, by the rank test and by Welch's t test.
struct GateResult {
  double slowdown = 0;
  Measured<double> p_rank, p_t;
  std::string verdict;  // ok, regression or unclear
  std::string why;
};
template <class V>
void visit_fields(GateResult& g, V& v) {
  v.field("slowdown", g.slowdown, "samples_per_s of the base / samples_per_s - 1, by means");
  v.field("p_rank", g.p_rank, "one-sided p of the rank test that this side is slower");
  v.field("p_t", g.p_t, "the same of Welch's t test");
  v.field("verdict", g.verdict, "ok, regression, or unclear: above the gate but not shown");
  v.field("why", g.why, "the verdict in words");
}

/// With repeats on both sides an alarm needs the slowdown above the limit and both p below the
/// significance; when only one is, or none, it is unclear. With one run on a side the slowdown has
/// to be above three times the joint interval of the mean steps, and the words say how few runs
/// there were. REQUIRES: neither side is empty, all rates above 0.
GateResult judge(const Side& base, const Side& other, const GateRule& rule);

}  // namespace falcon::analysis
