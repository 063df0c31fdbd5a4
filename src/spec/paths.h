// The keys of a spec that say where something lies: one list for each place they are relative to,
// walked where paths become absolute.
#pragma once
#include <string>

#include "falconbench/run_spec.h"

namespace falcon::spec {

/// visit(key, path) for data.path and all that is relative to the same place: to the storage's
/// mount when storage is given, else to the spec file (in --set: to the working directory).
template <class Visit>
void visit_paths(RunSpec& spec, Visit&& visit) {
  visit("data.path", spec.data.path);
  if (spec.init != kRandomInit) visit("init", spec.init);
  visit("checkpoint.path", spec.checkpoint.path);
  visit("checkpoint.resume", spec.checkpoint.resume);
  visit("save_weights", spec.save_weights);
}

/// The same for what belongs to the run, not to its data: relative to the spec file (in --set: to
/// the working directory) whatever the storage.
template <class Visit>
void visit_own_paths(RunSpec& spec, Visit&& visit) {
  visit("system", spec.system);
  visit("telemetry.raw", spec.telemetry.raw);
}

/// Whether anything of the spec is relative to the storage.
inline bool names_a_file(RunSpec spec) {
  bool any = false;
  visit_paths(spec, [&](const char*, const std::string& path) { any = any || !path.empty(); });
  return any;
}

}  // namespace falcon::spec
