// What is wrong with a machine, as far as files tell it.
#pragma once
#include <string>

#include "platform/machine/machine.h"

namespace falcon::platform {

/// Two files say different things: `what` is the question.
Finding sources_disagree(const std::string& what, const std::string& believed,
                         const std::string& other);

/// Adds what the joined machine shows: narrow and slow links, capped power, access control
/// services, MIG, GPUs without peer access, an IOMMU.
void find_faults(const Dump& dump, Machine& machine);

}  // namespace falcon::platform
