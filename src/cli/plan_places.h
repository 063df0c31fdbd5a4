// Where the devices of a plan sit, as --dry-run prints it.
#pragma once
#include <map>
#include <string>

#include "falconbench/places.h"
#include "falconbench/system_chassis.h"

namespace falcon::cli {

/// A line of the plan: what it is, and the text.
void add_plan_line(std::string& out, const std::string& name, const std::string& text);

void add_places(const Places& places, std::string& out);

/// Whose management will be asked, and what is known of its ports.
void add_chassis(const std::map<std::string, SystemChassis>& chassis, std::string& out);

}  // namespace falcon::cli
