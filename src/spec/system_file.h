// Reads a system file (falconbench/system_file.h).
#pragma once
#include <string>

#include "falconbench/system_file.h"

namespace falcon::spec {

/// YAML or JSON. Throws InputError with all faults: a GPU without address, twice the same address,
/// a topology entry that matches no GPU, a mount that is not absolute, ...
SystemFile load_system_file(const std::string& path);

}  // namespace falcon::spec
