// The parts of the document about pairs of GPUs and about GPUs and host memory. Pure.
#pragma once
#include <vector>

#include "report/links/input.h"

namespace falcon::report {

/// Every ordered pair, in the order of sources, then targets.
std::vector<LinkPair> make_pairs(const LinksInput& input);
/// Classes in the order of their first pair.
std::vector<LinkClass> make_classes(const std::vector<LinkPair>& pairs);

std::vector<HostCopies> make_host_copies(const LinksInput& input);
/// REQUIRES: host, of the same input.
std::vector<HostCopiesTogether> make_host_together(const LinksInput& input,
                                                   const std::vector<HostCopies>& host);

}  // namespace falcon::report
