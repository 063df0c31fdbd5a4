// Memory that a captured step sets.
#pragma once
#include <cuda_runtime_api.h>

namespace falcon::train {

/// Puts a kernel in the place of each memset of a graph that sets few bytes, and says of how many:
/// between two kernels a memset holds a replay up for longer than a kernel that does the same.
/// cuBLAS and cuDNN clear counters before many of their kernels. Does nothing in a build without
/// kernels. The device of the graph is current.
int replace_fills(cudaGraph_t graph);

}  // namespace falcon::train
