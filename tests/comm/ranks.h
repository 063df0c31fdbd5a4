// Several ranks in one test program: a thread each, talking as processes would.
#pragma once
#include <functional>

#include "comm/process_group.h"

namespace falcon::test {

/// Runs the function once a rank and shuts the group down. Rethrows what the lowest rank threw.
/// With NCCL rank r has GPU r, and a stream of its own is current.
void run_ranks(int world, const std::function<void(comm::ProcessGroup& group)>& function,
               comm::Backend backend = comm::Backend::kGloo);

}  // namespace falcon::test
