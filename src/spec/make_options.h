// Which keys of data.make a format takes, and what they are unless given.
#pragma once
#include <string>
#include <vector>

#include "falconbench/catalog.h"

namespace falcon::spec {

/// The keys that have an effect, in the order of the field list: train, val, ...
std::vector<std::string> make_options(const DatasetFacts& format);
/// Those set in `make` that the format does not take.
std::vector<std::string> make_options_without_effect(const MakeSpec& make,
                                                     const DatasetFacts& format);
/// `make` with every field set that the format takes.
MakeSpec filled_make(const MakeSpec& make, const DatasetFacts& format);

}  // namespace falcon::spec
