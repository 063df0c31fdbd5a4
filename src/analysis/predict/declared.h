// The links of a machine that nobody measured, as its system file declares them. Pure.
#pragma once
#include <map>
#include <string>

#include "analysis/predict/fabric.h"
#include "falconbench/system_file.h"

namespace falcon::analysis {

/// A ring over the first `devices` GPUs of a set of the system file (a name of its sets, or all),
/// ordered by place, at the slowest of the figures that `links:` declares for the classes of its
/// hops; a hop that leaves a drawer is no faster than its uplink. What a collective reaches of such
/// figures is not known: low and high of its points are half and twice the time. Its source names
/// every figure. usual: classes whose figures are not the file's but those of such links elsewhere,
/// with their source. Throws Error(kUsage) when there is no such set, it has fewer than two GPUs,
/// or a class of its hops is not declared.
Fabric declared_fabric(const SystemFile& system, const std::string& topology, int devices,
                       const std::map<std::string, std::string>& usual = {});

/// How many GPUs the set has. Throws Error(kUsage) when there is none of that name.
int devices_in(const SystemFile& system, const std::string& topology);

}  // namespace falcon::analysis
