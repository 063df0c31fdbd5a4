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
  RunTelemetry(const Plan& plan, std::shared_ptr<const platform::Nvml> nvml);

  void worker_started(int rank, pid_t pid);
  /// The window of the run is the one that all ranks share: from the last to begin to the last to
  /// end.
  void measuring_began(double time_s);
  void measuring_ended(double time_s);
  /// Stops sampling; that of no worker at all is empty with reasons.
  Telemetry finish();

 private:
  const Plan& plan_;
  telemetry::SamplerContext context_;
  std::unique_ptr<telemetry::Session> session_;
  std::size_t began_ = 0;
  std::size_t ended_ = 0;
  double began_s_ = 0;
  double ended_s_ = 0;
};

}  // namespace falcon::cli
