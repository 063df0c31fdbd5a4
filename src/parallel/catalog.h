// The strategies there are. make_strategy() of falconbench/strategy.h looks here.
#pragma once
#include <string>
#include <vector>

namespace falcon::parallel {

/// Names in catalog order; the same as catalog::parallelisms().
std::vector<std::string> strategy_names();

}  // namespace falcon::parallel
