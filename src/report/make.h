// The report of a run from everything that is known about it. Pure: no clock, no files.
#pragma once
#include <string>
#include <vector>

#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "falconbench/report.h"
#include "falconbench/run_hosts.h"
#include "falconbench/run_log.h"
#include "falconbench/telemetry.h"
#include "report/storage.h"

namespace falcon::report {

/// A host of the run beside the one with rank 0: its name is hostname, times of its telemetry are
/// on the clock of that one.
struct OtherHost {
  Host host;
  Measured<HostSight> sight;
};

/// What plan, host and log do not hold.
struct Circumstances {
  std::vector<std::string> command_line;
  StorageSight storage;
  Measured<std::string> trace_file = Measured<std::string>::missing(kNoTrace);
  const ModelFacts* model = nullptr;  // catalog rows of the plan's names
  const PrecisionFacts* precision = nullptr;
  std::vector<OtherHost> others;
};

/// Works for failed and interrupted runs with some or no records: what cannot be had is missing
/// with its reason. With spec.strict a finding of severity invalid turns a run that ended well into
/// status invalid, exit code 6.
Report make(const Plan& plan, const Host& host, const RunLog& log, const Telemetry& telemetry,
            const Circumstances& circumstances);

ExitCode exit_code(const Report& report);

}  // namespace falcon::report
