// What is worth knowing about links that were measured. Pure.
#pragma once
#include <vector>

#include "falconbench/links.h"

namespace falcon::report {

/// Of a document that is complete but for its findings.
std::vector<Finding> find_in_links(const LinksReport& report);

}  // namespace falcon::report
