// What the page needs of a run beyond its facts.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "analysis/run_facts.h"
#include "falconbench/finding.h"
#include "falconbench/report.h"

namespace falcon::analysis {

/// Readings over time, brought to equal intervals: mean of the readings of each.
struct EvenSeries {
  double interval_s = 0;
  std::vector<std::optional<double>> values;
};

struct PageRun {
  RunFacts facts;
  Statistics step_time_ms;
  std::map<std::string, Measured<double>> phases_ms;  // mean of a step, by the phase's name
  Measured<double> pauses_ms;                         // checkpoints and evaluation, for each step
  Measured<EvenSeries> gpu_busy_pct;                  // mean over the GPUs
  std::vector<Finding> findings;
  std::map<std::string, std::string> machine;  // host, CPU, memory, GPUs, versions; in words
  std::int64_t batch_per_device = 0;
};

/// points: at most so many for a series.
PageRun page_run(const Report& report, const std::string& file, std::size_t points);

/// Names of the phases in the order of a step.
std::vector<std::string> phase_names();

}  // namespace falcon::analysis
