// A joined machine as a host: where its devices sit, and a host that only files describe.
#pragma once
#include <string>

#include "falconbench/host.h"
#include "platform/machine/machine.h"

namespace falcon::platform {

/// Fills what the joined machine tells of the host's GPUs, switches, drives and mounts. REQUIRES:
/// machine was made from dump, and dump is of this host.
void add_places(const Machine& machine, const Dump& dump, Host& host);

/// The machine that files describe, to plan for. GPUs without a known PCI address are left out,
/// with a note. name: of the host, for messages.
Host host_of(const Machine& machine, const Dump& dump, const std::string& name);

}  // namespace falcon::platform
