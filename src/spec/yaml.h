// YAML text to values, by the core schema of YAML 1.2: decimal integers, 1.5 and 1e3, true and
// false, null; all else is text. What other YAML versions read differently (0100, 0x10, 1:30,
// 1_000, yes, no, on, off) and what is no finite number is text with Value::ambiguity set, so that
// a field that wants text takes it and any other says why not.
#pragma once
#include <string>
#include <string_view>

#include "base/value.h"

namespace falcon::spec {

/// Throws InputError (with line and column in `source`) on bad YAML, duplicate keys, anchors,
/// aliases, tags, several documents, control characters and more than 100 levels. An empty document
/// is null.
base::Value parse_yaml(std::string_view text, const std::string& source);

/// A file that holds a map of keys: JSON when it is named .json, or starts with '{' and is not
/// named .yaml or .yml; else YAML. Throws InputError as parse_yaml does and when the document is no
/// map, Error(kUsage) when the file cannot be read.
base::Value parse_map_file(const std::string& path);

}  // namespace falcon::spec
