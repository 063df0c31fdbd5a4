// The samplers there are, by the words of the spec's telemetry.samplers.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "falconbench/plan.h"
#include "falconbench/sampler.h"
#include "platform/nvml.h"
#include "telemetry/redfish_sampler.h"

namespace falcon::telemetry {

struct WatchedProcess {
  std::int64_t pid = 0;
  std::string name;  // for the report, e.g. "rank 0"
};

/// What there is to look at.
struct SamplerContext {
  std::string root = "/";
  std::shared_ptr<const platform::Nvml> nvml;  // the one that detection used, held open
  std::vector<DevicePlan> gpus;                // of the run; a repeated one counts once
  std::string data_folder;                     // empty: synthetic data
  std::vector<WatchedProcess> processes;       // the workers
  std::vector<WatchedChassis> chassis;         // whose management is asked
  bool uses_gpm = true;  // set by make_samplers: PCIe traffic is had by it where it can be
};

using Samplers = std::vector<std::unique_ptr<Sampler>>;

/// One word of the spec. make adds the samplers it stands for, under that name. disabled: not to be
/// used, and why: then nothing is touched and every metric is missing for that reason.
struct SamplerRow {
  const char* name;
  void (*make)(const char* name, const SamplerContext& context, const std::string& disabled,
               Samplers& out);
};

std::span<const SamplerRow> catalog();

/// Samplers of every row; rows that are not among the chosen ones (default: all are) say so in
/// their metrics. Probes each metric once.
Samplers make_samplers(SamplerContext context,
                       const std::optional<std::vector<std::string>>& chosen);

}  // namespace falcon::telemetry
