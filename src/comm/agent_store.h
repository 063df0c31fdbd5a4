// One key of a c10d store that somebody else serves: torchrun's agent.
#pragma once
#include <optional>
#include <string>

namespace falcon::comm {

/// Sets the key when there is a value; else waits for it, at most timeout_s. Returns the value.
/// Throws c10::Error or c10::DistError when nobody serves the store there, or no value comes.
std::string agent_value(const std::string& host, int port, const std::string& key,
                        const std::optional<std::string>& value, double timeout_s);

}  // namespace falcon::comm
