// JSON schemas of the report and of links, made from its field lists: the files of schemas/ are
// these texts, and tests hold them together.
#pragma once
#include <string>

namespace falcon::report {

/// Draft 2020-12, ends in a newline. No other key than those listed is accepted.
std::string schema_text();

/// The same of `falconbench links`: schemas/links.schema.json.
std::string links_schema_text();

}  // namespace falcon::report
