// One fault soon shows in several ranks: the peers of a worker that died fail in their collectives.
// This tells the cause from its consequences, and puts failures into words.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "falconbench/errors.h"
#include "falconbench/plan.h"
#include "falconbench/records.h"
#include "launch/process.h"

namespace falcon::launch {

struct Candidate {
  RunFailure failure;
  ExitCode code = ExitCode::kWorker;
  double time_s = 0;       // as told by the worker, or when it was noticed
  bool is_sudden = false;  // the worker had no chance to say anything: noticed later than it was
};

/// The earliest one, where a sudden end counts as up to settle_s before it was noticed. REQUIRES:
/// not empty.
const Candidate& cause_of(std::span<const Candidate> candidates, double settle_s);

/// A worker that ended without results and without a message.
Candidate unexpected_end(const ProcessEnd& end, pid_t pid, double now_s,
                         const std::vector<std::string>& last_lines);

/// What the program ends with after a failure message of a worker: the worker's own wish where that
/// is a fault of the spec (which only the worker could see: weights of another shape), a host fault
/// or a hang, else kWorker.
ExitCode code_of_message(int wish);

/// "NVIDIA H200 (0000:18:00.0)", several joined by commas.
std::string device_text(const RankPlan& rank);

}  // namespace falcon::launch
