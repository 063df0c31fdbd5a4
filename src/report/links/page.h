// The document of `falconbench links` as tables for people.
#pragma once
#include <string>

#include "falconbench/links.h"

namespace falcon::report {

/// path: where the JSON was written; empty: nowhere.
std::string links_page(const LinksReport& report, const std::string& path, bool use_colour);

}  // namespace falcon::report
