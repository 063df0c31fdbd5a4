// CSV as RFC 4180 has it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace falcon::analysis {

/// One field, quoted where it has to be.
std::string csv_field(std::string_view text);
/// Fields with commas between them, and the end of the line.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace falcon::analysis
