// What the NCCL of every rank is told: to keep a log of its transports, and, with emulate, to stage
// what goes from and to GPUs that play those of a chassis. Pure.
#pragma once
#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "falconbench/system_file.h"
#include "plan/placement.h"

namespace falcon::plan {

bool emulates(const RunSpec& spec);

/// The same for all ranks. Without emulate: the log alone, unless the user set NCCL_DEBUG or
/// NCCL_DEBUG_FILE. With it: peer-to-peer off where all GPUs play chassis GPUs; in a mixed set a
/// topology file in which those are alone on a NUMA node each, and a level of peer-to-peer that
/// does not reach so far. Throws InputError where nothing can be emulated, and for emulated GPUs
/// asked for by name without emulate. REQUIRES: ranks, places and backend of the plan are made.
NcclPlan plan_nccl(const Plan& plan, const Placement& placement, const Host& host,
                   const SystemFile& system);

}  // namespace falcon::plan
