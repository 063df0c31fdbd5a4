// PCIe access control (ACS) of bridges, from their configuration space in sysfs.
#pragma once
#include <string>
#include <vector>

#include "falconbench/measured.h"
#include "platform/root.h"

namespace falcon::platform {

/// Those of the bridges (PCI addresses) whose access control sends requests or completions between
/// devices below them up to the root complex (PCI Express Base Specification, 7.7.11: P2P Request
/// Redirect, P2P Completion Redirect). Missing when the extended configuration space of one cannot
/// be read, which takes root.
Measured<std::vector<std::string>> redirecting_bridges(const Root& root,
                                                       const std::vector<std::string>& bridges);

}  // namespace falcon::platform
