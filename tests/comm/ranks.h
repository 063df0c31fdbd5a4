// Several ranks in one test program: a thread each, talking over Gloo as processes would.
#pragma once
#include <functional>

#include "comm/process_group.h"

namespace falcon::test {

/// Runs the function once a rank and shuts the group down. Rethrows what the lowest rank threw.
void run_ranks(int world, const std::function<void(comm::ProcessGroup& group)>& function);

}  // namespace falcon::test
