// A made-up run with known figures, for tests of the report.
#pragma once
#include <string>
#include <vector>

#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "falconbench/run_log.h"
#include "falconbench/telemetry.h"
#include "report/make.h"

namespace falcon::report {

inline constexpr double kMadeWindow_s = 110;  // where the measured steps begin

/// Two H200s, mobilenet_v2, fp16, batch 8 each, 40 steps of 10 ms after 4 warm-up steps, every
/// phase timed. Ranks are one second apart from the start of the run to the window.
struct MadeRun {
  explicit MadeRun(int num_ranks = 2, std::size_t num_steps = 40, bool on_gpu = true);

  Report report() const { return make(plan, host, log, telemetry, circumstances); }
  WorkerRecords& records(int rank) { return *log.records.at(static_cast<std::size_t>(rank)); }

  Plan plan;
  Host host;
  RunLog log;
  Telemetry telemetry;
  Circumstances circumstances;
  ModelFacts model;
  PrecisionFacts precision;

  MadeRun(const MadeRun&) = delete;
  MadeRun& operator=(const MadeRun&) = delete;
};

std::vector<std::string> finding_ids(const Report& report);

}  // namespace falcon::report
