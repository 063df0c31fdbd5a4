// A system file for a user to correct: what detection can propose of one.
#pragma once
#include <string>

#include "falconbench/host.h"
#include "platform/machine/machine.h"

namespace falcon::cli {

/// YAML with comments that say why. machine proposes where GPUs sit, host has their addresses and
/// paths: both are of the same dump. Throws Error(kHost) when no GPU has a known PCI address.
std::string system_draft(const platform::Machine& machine, const Host& host);

/// Writes it to a new file. Throws Error(kUsage) when there is one already, or none can be made.
void write_new_file(const std::string& path, const std::string& text);

}  // namespace falcon::cli
