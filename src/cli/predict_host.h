// A machine to predict for that nobody measured: what its system file and files about it say.
#pragma once
#include <map>
#include <string>

#include "falconbench/system_file.h"

namespace falcon::cli {

struct PlannedMachine {
  SystemFile system;
  std::map<std::string, std::string> usual_links;  // class -> where its speed was seen
};

/// system_file, host: paths, one of them may be empty. With a host (what doctor --from reads) the
/// GPUs of the set must be there, and classes of links that the system file declares no speed of
/// get the slowest of what such links are seen at elsewhere. Without a system file all GPUs of the
/// host are local, named by their addresses. Throws Error(kHost) for GPUs or figures that the host
/// lacks.
PlannedMachine planned_machine(const std::string& system_file, const std::string& host,
                               const std::string& topology);

}  // namespace falcon::cli
