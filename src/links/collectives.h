// Bus bandwidth of collectives, one process a device: NCCL on GPUs, Gloo on the CPU.
#pragma once
#include <functional>
#include <string>

#include <falconbench/links_work.h>

#include "comm/process_group.h"

namespace falcon::links {

/// Collective: times one operation by size; every rank returns its own times. on_size is called
/// after each size. Throws c10::Error, Error(kUsage) for an unknown operation.
LinkResult measure_collective(comm::ProcessGroup& group, const CollectiveTask& task,
                              const LinkWork& work, const std::function<void()>& on_size);

/// Element type of the buffers: bfloat16 on GPUs, where gradients often are, float32 with Gloo.
std::string collective_data_type(const comm::ProcessGroup& group);

}  // namespace falcon::links
