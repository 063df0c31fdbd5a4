// The part of a run spec about effects that are imposed (falconbench/run_spec.h).
#pragma once
#include <optional>
#include <string>

#include "falconbench/fields.h"

namespace falcon {

/// The word for falcon_link.
inline constexpr const char* kHostStaged = "host_staged";

struct EmulateSpec {
  std::optional<std::string> falcon_link;
};
template <class V>
void visit_fields(EmulateSpec& e, V& v) {
  v.field("falcon_link", e.falcon_link,
          "how GPUs that the system file marks emulated are reached from others: host_staged, "
          "through the memory of the host instead of directly",
          one_of("falcon_links"));
}

}  // namespace falcon
