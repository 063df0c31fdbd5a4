// The --set words of a command line, laid over the values of a spec file.
#pragma once
#include <string>
#include <vector>

#include "base/codec_describe.h"
#include "base/value.h"
#include "falconbench/errors.h"

namespace falcon::spec {

/// Sets each `key=VALUE` in tree, in order. Where a map holds one branch only (a choice, or a word
/// with options), a path under another branch replaces it. Keys that schema does not have and
/// VALUEs that are no YAML are added to faults and left out. REQUIRES: tree is a map.
void apply_settings(const std::vector<std::string>& settings, const base::FieldInfo& schema,
                    base::Value& tree, std::vector<Fault>& faults);

/// The source of a value that a setting gave.
inline constexpr const char* kSettingSource = "--set";

}  // namespace falcon::spec
