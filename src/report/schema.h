// JSON schema of the report, made from its field lists: schemas/report.schema.json is this text,
// and a test holds the two together.
#pragma once
#include <string>

namespace falcon::report {

/// Draft 2020-12, ends in a newline. No other key than those listed is accepted.
std::string schema_text();

}  // namespace falcon::report
