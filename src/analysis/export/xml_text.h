// XML text.
#pragma once
#include <string>
#include <string_view>

namespace falcon::analysis {

/// For attributes in double quotes and for content: < > & " ' and line ends as references; bytes
/// that XML 1.0 cannot hold (control characters, no UTF-8) as \xNN.
std::string xml_text(std::string_view text);

}  // namespace falcon::analysis
