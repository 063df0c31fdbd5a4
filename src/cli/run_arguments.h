// The command line of a run.
#pragma once
#include <string>
#include <vector>

#include "cli/commands.h"

namespace falcon::cli {

struct RunArguments {
  std::string config;  // spec file; "" when settings alone make the spec
  std::vector<std::string>
      settings;      // key=VALUE, in the order given; flags of single keys included
  std::string host;  // another machine to plan for: what `doctor --from` reads
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool help = false;
};

/// Flags are --set under another name: every plain top-level key has one (--warmup-steps 5 is
/// --set warmup_steps=5). Throws Error(kUsage) naming the flag and the nearest valid one.
RunArguments parse_run_arguments(const Words& words);

}  // namespace falcon::cli
