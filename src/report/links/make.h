// From what the workers measured to the document of `falconbench links`. Pure.
#pragma once
#include "falconbench/links.h"
#include "report/links/input.h"

namespace falcon::report {

LinksReport make_links(const LinksInput& input);

}  // namespace falcon::report
