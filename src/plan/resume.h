// A run that goes on from a checkpoint: it must be the training that the checkpoint is of. Pure.
#pragma once
#include "falconbench/plan.h"
#include "weights/checkpoint.h"

namespace falcon::plan {

/// Sets plan.first_step. Throws InputError when model, optimizer, seed, number of samples or global
/// batch are others than the checkpoint's: the position in the data counts in batches of that
/// order.
void resume_from(const weights::CheckpointFacts& facts, Plan& plan);

}  // namespace falcon::plan
