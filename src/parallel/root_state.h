// How a strategy over several ranks begins.
#pragma once
#include <falconbench/model.h>

#include "comm/process_group.h"

namespace falcon::parallel {

/// Collective: parameters and buffers become rank 0's. Throws when the models differ.
void take_state_of_root(comm::ProcessGroup& group, const Model& model);

}  // namespace falcon::parallel
