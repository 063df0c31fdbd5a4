// The strategies there are. make_strategy() of falconbench/strategy.h looks here.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/ScalarType.h>

namespace falcon::parallel {

/// Names in catalog order; the same as catalog::parallelisms().
std::vector<std::string> strategy_names();

/// What gradients are converted to for engine.gradient_dtype; nothing when they stay as they are.
/// Throws Error(kUsage) for another word.
std::optional<at::ScalarType> exchanged_type(std::string_view name);

}  // namespace falcon::parallel
