#include "cli/run_telemetry.h"

#include <algorithm>
#include <utility>

namespace falcon::cli {

RunTelemetry::RunTelemetry(const Plan& plan, const std::vector<int>& ranks,
                           std::shared_ptr<const platform::Nvml> nvml)
    : plan_(plan), ranks_(ranks) {
  context_.nvml = std::move(nvml);
  context_.data_folder = plan.data.folder;
  for (const RankPlan& rank : plan.ranks) {
    if (!is_here(rank.rank)) continue;
    for (const DevicePlan& device : rank.devices) {
      if (!device.uuid.empty()) context_.gpus.push_back(device);
    }
  }
  for (const auto& [name, chassis] : plan.chassis) {
    const SystemRedfish& management = *chassis.redfish;
    context_.chassis.push_back(
        {name, {management.url, management.ca_file}, management.credentials, chassis.drawers});
  }
}

void RunTelemetry::worker_started(int rank, pid_t pid) {
  context_.processes.push_back({pid, "rank " + std::to_string(rank)});
  if (context_.processes.size() < ranks_.size()) return;
  telemetry::SessionOptions options;
  options.interval_ms = plan_.spec.telemetry.interval_ms;
  options.series = plan_.spec.telemetry.series;
  options.raw_file = plan_.files.telemetry_raw;
  session_ = std::make_unique<telemetry::Session>(
      telemetry::make_samplers(context_, plan_.spec.telemetry.samplers), options);
  session_->start();
}

bool RunTelemetry::is_here(int rank) const {
  return std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end();
}

void RunTelemetry::measuring_began(int rank, double time_s) {
  if (!is_here(rank)) return;
  began_s_ = std::max(began_s_, time_s);
  if (++began_ == ranks_.size() && session_) session_->begin_window(began_s_);
}

void RunTelemetry::measuring_ended(int rank, double time_s) {
  if (!is_here(rank)) return;
  ended_s_ = std::max(ended_s_, time_s);
  if (++ended_ == ranks_.size() && session_) session_->end_window(ended_s_);
}

Telemetry RunTelemetry::finish() {
  if (!session_) return {};
  session_->stop();
  return session_->result();
}

}  // namespace falcon::cli
