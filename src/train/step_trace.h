// Traces steps: kernels and operators as Kineto records them, and the phases of the step clock.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include <falconbench/records_trace.h>

#include "train/phase_clock.h"

namespace falcon::train {

/// A trace begins with so many steps in which the device's queue fills and CUPTI comes to know the
/// graph: its time begins with the end of the last of them.
inline constexpr std::int64_t kTraceLeadSteps = 3;

/// One at a time in a process; made and finished by the thread that trains.
class StepTrace {
 public:
  /// Records from now on.
  explicit StepTrace(at::Device device);
  /// Without finish(): what was recorded is dropped.
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  /// A step that has ended, in step order; first kTraceLeadSteps, then the traced ones.
  void add(const StepTime& time) { steps_.push_back(time); }
  /// Ends the recording. REQUIRES: a traced step, and all work of the device is done.
  TraceRecord finish();

 private:
  int track(const std::string& name);
  void put(int track, const std::string& name, double begin_s, double end_s);
  void put_steps();
  void put_recorded();

  at::Device device_;
  bool is_recording_ = true;
  double unix_minus_steady_s_ = 0;
  std::vector<StepTime> steps_;
  TraceRecord record_;
  std::map<std::string, std::int64_t> tracks_, names_;
};

}  // namespace falcon::train
