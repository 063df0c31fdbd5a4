// The plan of a run: spec, host and data brought together, everything decided and checked before a
// device is touched.
#pragma once
#include <string>
#include <vector>

#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "falconbench/system_file.h"
#include "plan/placement.h"
#include "plan/resolve.h"

namespace falcon::plan {

/// Throws InputError for impossible pairs (precision and device, batch and devices, batch and
/// data), Error(kHost) for what the host lacks. run_id is unique to the run.
Plan make(const ResolvedSpec& resolved, const Placement& placement, const Host& host,
          const DataFacts& data, const std::string& run_id);
/// The same where CPUs and threads of the ranks are decided, maybe by several hosts. host: the one
/// with rank 0.
Plan make(const ResolvedSpec& resolved, const Placement& placement,
          const std::vector<RankPlan>& ranks, const Host& host, const DataFacts& data,
          const std::string& run_id);

/// Time and 6 random hexadecimal digits: 20260131T120000Z-1a2b3c.
std::string new_run_id();

}  // namespace falcon::plan
