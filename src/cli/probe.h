// What CUDA and the loaded libraries say, asked of a child: this process never loads them.
#pragma once
#include "cli/patience.h"
#include "falconbench/probe.h"

namespace falcon::cli {

/// Runs `falconbench worker --probe`. Throws Error(kHost) with the child's own message when it
/// fails, Error(kHang) when it does not answer within 120 s. With `patience` also what its check()
/// throws.
ProbeFacts probe(const Patience* patience = nullptr);

/// Throws Error(kHost) naming both versions and the file when a loaded library is not the one built
/// for.
void check_libraries(const ProbeFacts& facts);

}  // namespace falcon::cli
