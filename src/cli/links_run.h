// The processes of `falconbench links`: one that copies between all devices, then one a device for
// collectives, with peer-to-peer transport and without.
#pragma once
#include <optional>

#include "cli/logging.h"
#include "launch/signals.h"
#include "plan/placement.h"
#include "report/links/input.h"

namespace falcon::cli {

struct LinksRunOptions {
  double started_s = 0;
  std::optional<double> timeout_s;  // of all, from started_s
};

/// Measures all and fills the copies and collectives of the input. A copy that does not end is
/// left out, and the rest measured. What fails stands in input.failure, and its code is returned.
ExitCode measure_links(const plan::Placement& placement, const LinksRunOptions& options, Log& log,
                       launch::SignalWatch& signals, report::LinksInput& input);

}  // namespace falcon::cli
