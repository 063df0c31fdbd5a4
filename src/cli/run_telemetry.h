// Telemetry of one run: starts when all workers are there, follows their measured window.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <sys/types.h>

#include "falconbench/plan.h"
#include "falconbench/telemetry.h"
#include "platform/nvml.h"
#include "telemetry/catalog.h"
#include "telemetry/session.h"

namespace falcon::cli {

/// Callbacks come from launch::run, on one thread.
class RunTelemetry {
 public:
  /// ranks: those of this host.
  RunTelemetry(const Plan& plan, const std::vector<int>& ranks,
               std::shared_ptr<const platform::Nvml> nvml);

  void worker_started(int rank, pid_t pid);
  /// The window of the run is the one that all ranks of this host share: from the last to begin to
  /// the last to end. Ranks of other hosts are sampled there.
  void measuring_began(int rank, double time_s);
  void measuring_ended(int rank, double time_s);
  /// Stops sampling; that of no worker at all is empty with reasons.
  Telemetry finish();

 private:
  bool is_here(int rank) const;

  const Plan& plan_;
  std::vector<int> ranks_;
  telemetry::SamplerContext context_;
  std::unique_ptr<telemetry::Session> session_;
  std::size_t began_ = 0;
  std::size_t ended_ = 0;
  double began_s_ = 0;
  double ended_s_ = 0;
};

}  // namespace falcon::cli
