// The plan of a run as --dry-run prints it: for people, or as JSON.
#pragma once
#include <string>

#include "falconbench/plan.h"

namespace falcon::cli {

/// The resolved spec with the origin of every value, then what was decided from it.
std::string plan_text(const Plan& plan);
/// One JSON object: the fields of Plan, the spec under `spec`.
std::string plan_json(const Plan& plan);

}  // namespace falcon::cli
