// The keys of a spec as text for people, made from the field lists.
#pragma once
#include <string>

namespace falcon::spec {

/// What `falconbench list keys` prints: a block of lines for each key.
std::string keys_table();
/// configs/README.md, whole.
std::string keys_markdown();

}  // namespace falcon::spec
