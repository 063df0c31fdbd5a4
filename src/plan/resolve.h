// Fills every default of a spec in, from the model's facts and from what the host has. Pure.
#pragma once
#include <map>
#include <string>

#include "falconbench/host.h"
#include "falconbench/run_spec.h"

namespace falcon::plan {

struct ResolvedSpec {
  RunSpec spec;  // every optional that applies is set
  std::map<std::string, std::string>
      origin;  // dotted key -> file:line, --set, or why it has its default
};

/// given: as read; origin: of the given values; folder: what relative paths in it are relative to.
/// Paths become absolute (a data.path below a named storage stays relative to its mount), so that
/// the resolved spec repeats the run from anywhere. Precision and parallelism follow from the
/// number of devices, which placement decides: num_devices and on_gpu are its answer.
ResolvedSpec resolve(const RunSpec& given, const std::map<std::string, std::string>& origin,
                     const std::string& folder, int num_devices, bool on_gpu);

/// topology and devices alone, which placement needs first: `all`, or `cpu` where the host has no
/// GPU.
NameOrList resolved_topology(const RunSpec& given, const Host& host);

}  // namespace falcon::plan
