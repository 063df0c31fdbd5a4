#include "analysis/gate.h"

#include <cmath>
#include <numeric>

#include "measure/significance.h"
#include "report/figures.h"

namespace falcon::analysis {
namespace {

using report::figure;
using report::percent;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string runs_text(const Side& base, const Side& other) {
  const std::size_t of_base = base.samples_per_s.size();
  const std::size_t of_other = other.samples_per_s.size();
  if (of_base == 1 && of_other == 1) return "one run each";
  return std::to_string(of_base) + (of_base == 1 ? " run" : " runs") + " of the base, " +
         std::to_string(of_other) + " of this";
}

void judge_by_tests(const Side& base, const Side& other, const GateRule& rule, GateResult& out) {
  out.p_rank = measure::rank_test_less(other.samples_per_s, base.samples_per_s);
  out.p_t = measure::welch_test_less(other.samples_per_s, base.samples_per_s);
  const std::string found = "rank test p " + figure(*out.p_rank) + ", t test p " + figure(*out.p_t);
  const bool by_rank = *out.p_rank < rule.significance;
  const bool by_t = *out.p_t < rule.significance;
  if (by_rank && by_t) {
    out.verdict = "regression";
    out.why = found + ", both below " + figure(rule.significance);
  } else {
    out.verdict = "unclear";
    out.why = found + (by_rank || by_t ? ": they do not agree at " : ", neither below ") +
              figure(rule.significance);
  }
}

void judge_by_steps(const Side& base, const Side& other, GateResult& out) {
  const std::string runs = runs_text(base, other);
  for (const Side* side : {&base, &other}) {
    if (side->relative_ci95.has_value()) continue;
    out.verdict = "unclear";
    out.why = runs + ", and no interval of the mean step: " + side->relative_ci95.reason;
    return;
  }
  const double joint = 3 * std::hypot(*base.relative_ci95, *other.relative_ci95);
  const bool is_above = out.slowdown > joint;
  out.verdict = is_above ? "regression" : "unclear";
  out.why = runs + "; slowdown " + (is_above ? "above " : "not above ") + percent(joint) +
            ", three times the joint interval of the mean steps";
}

}  // namespace

GateResult judge(const Side& base, const Side& other, const GateRule& rule) {
  GateResult out;
  out.slowdown = mean_of(base.samples_per_s) / mean_of(other.samples_per_s) - 1;
  const bool has_repeats = base.samples_per_s.size() > 1 && other.samples_per_s.size() > 1;
  if (!has_repeats) {
    out.p_rank = out.p_t = Measured<double>::missing(runs_text(base, other));
  } else {
    judge_by_tests(base, other, rule, out);
  }
  if (!(out.slowdown > rule.limit)) {
    out.verdict = "ok";
    out.why = runs_text(base, other) + "; slowdown " + percent(out.slowdown) +
              ", not above the gate of " + percent(rule.limit);
  } else if (!has_repeats) {
    judge_by_steps(base, other, out);
  }
  return out;
}

}  // namespace falcon::analysis
