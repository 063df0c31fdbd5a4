#include "train/step_trace.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include <torch/csrc/autograd/profiler_kineto.h>

#include <falconbench/clock.h>

#include "measure/intervals.h"

namespace falcon::train {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

// libkineto::ActivityType, whose header needs all of Kineto
constexpr std::uint8_t kGpuCopy = 3, kGpuFill = 4, kGpuKernel = 5;

bool is_on_gpu(const profiler::KinetoEvent& event) {
  const std::uint8_t type = event.activityType();
  return type == kGpuCopy || type == kGpuFill || type == kGpuKernel;
}

/// As a step passes them.
constexpr std::array kOrder = {Phase::kDataWait, Phase::kH2d,      Phase::kOther,
                               Phase::kForward,  Phase::kBackward, Phase::kCommunicationExposed,
                               Phase::kOptimizer};
static_assert(kOrder.size() == kPhaseCount);

}  // namespace

StepTrace::StepTrace(at::Device device) : device_(device) {
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  std::set<ActivityType> activities{ActivityType::CPU};
  if (device.is_cuda()) {
    activities.insert(ActivityType::CUDA);
  } else {
    ::setenv("KINETO_LOG_LEVEL", "99", 0);  // it asks for GPUs all the same, and complains
  }
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  unix_minus_steady_s_ = wall_now_s() - steady_now_s();
}

StepTrace::~StepTrace() {
  if (is_recording_) profiler::disableProfiler();
}

int StepTrace::track(const std::string& name) {
  const auto [entry, is_new] =
      tracks_.try_emplace(name, static_cast<std::int64_t>(record_.tracks.size()));
  if (is_new) record_.tracks.push_back(name);
  return static_cast<int>(entry->second);
}

void StepTrace::put(int track, const std::string& name, double begin_s, double end_s) {
  const auto [entry, is_new] =
      names_.try_emplace(name, static_cast<std::int64_t>(record_.names.size()));
  if (is_new) record_.names.push_back(name);
  record_.track.push_back(track);
  record_.name.push_back(entry->second);
  record_.begin_us.push_back(1e6 * (begin_s - record_.begin_s));
  record_.duration_us.push_back(1e6 * (end_s - begin_s));
}

void StepTrace::put_steps() {
  const int steps = track("steps");
  const int phases = track("phases");
  for (std::size_t i = kTraceLeadSteps; i < steps_.size(); ++i) {
    const StepTime& time = steps_[i];
    double at_s = time.end_s - 1e-3 * time.step_ms;
    put(steps, "step " + std::to_string(time.step + 1), at_s, time.end_s);
    if (!time.phases_ms) continue;
    for (const Phase phase : kOrder) {
      const double phase_ms = (*time.phases_ms)[static_cast<std::size_t>(phase)];
      if (!(phase_ms > 0)) continue;
      put(phases, std::string(name_of(phase)), at_s, at_s + 1e-3 * phase_ms);
      at_s += 1e-3 * phase_ms;
    }
  }
}

void StepTrace::put_recorded() {
  const auto recorded = profiler::disableProfiler();
  is_recording_ = false;
  std::vector<measure::Interval> on_gpu;
  for (const profiler::KinetoEvent& event : recorded->events()) {
    const double begin_s = 1e-9 * static_cast<double>(event.startNs()) - unix_minus_steady_s_;
    const double end_s = begin_s + 1e-9 * static_cast<double>(event.durationNs());
    if (is_on_gpu(event)) {
      on_gpu.push_back({begin_s, end_s});
      put(track("GPU stream " + std::to_string(event.deviceResourceId())), event.name(), begin_s,
          end_s);
    } else if (event.deviceType() == c10::DeviceType::CPU && event.durationNs() > 0) {
      put(track("host thread " + std::to_string(event.startThreadId())), event.name(), begin_s,
          end_s);
    }
  }
  record_.gpu_busy_pct =
      !device_.is_cuda() ? Measured<double>::missing("the rank computes on the CPU")
      : on_gpu.empty()
          ? Measured<double>::missing("CUPTI recorded no kernel: its use may not be allowed here")
          : Measured<double>(100 *
                             measure::covered(std::move(on_gpu), {record_.begin_s, record_.end_s}) /
                             (record_.end_s - record_.begin_s));
}

TraceRecord StepTrace::finish() {
  record_.steps = static_cast<std::int64_t>(steps_.size()) - kTraceLeadSteps;
  record_.begin_s = steps_.at(kTraceLeadSteps - 1).end_s;
  record_.end_s = steps_.back().end_s;
  put_steps();
  put_recorded();
  return std::move(record_);
}

}  // namespace falcon::train
