// From a spec file and --set words to a RunSpec, or to the list of everything that is wrong with
// them. Knows no host: what depends on one is checked by plan::make.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/value.h"
#include "falconbench/run_spec.h"

namespace falcon::spec {

struct LoadedSpec {
  RunSpec spec;        // as given: nothing but name has its default filled in
  base::Value tree;    // file and settings merged, each value with its place
  std::string file;    // as given; empty without one
  std::string folder;  // of the file, "." without one: what its relative paths are relative to
  std::map<std::string, std::string>
      spec_origin;  // dotted key of a given value -> file:line or --set
};

/// config: path of a YAML or JSON file, or "" for none (then settings must name the model).
/// settings: `key=VALUE`, dotted key, VALUE one YAML value taken whole; the last one wins. A path
/// given by a setting is relative to the working directory and comes out absolute. Throws
/// InputError with all faults, those of the file in its order, then those of the settings;
/// Error(kUsage) when the file cannot be read.
LoadedSpec load(const std::string& config, const std::vector<std::string>& settings);

}  // namespace falcon::spec
