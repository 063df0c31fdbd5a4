// What a plain (unquoted) YAML scalar means; see spec/yaml.h.
#pragma once
#include <string>

#include "base/value.h"

namespace falcon::spec {

base::Value plain_value(const std::string& text);

}  // namespace falcon::spec
