// Reports as files: the way back from schemas/report.schema.json to the struct.
#pragma once
#include <string>
#include <vector>

#include "falconbench/report.h"

namespace falcon::analysis {

/// Keys that this program does not know are passed over (schema_version grows by new fields only);
/// fields that an older program did not write keep "not measured". Throws InputError naming the
/// file and the place when it is damaged, no report, or of another schema_version, and
/// Error(kUsage) when it cannot be read.
Report read_report(const std::string& path);

/// The reports that these words name: a file is itself, a folder all its *.json in the order of
/// their names (in the folder of a sweep those are reports only). Throws Error(kUsage) on a folder
/// without any.
std::vector<std::string> report_files(const std::vector<std::string>& words);

}  // namespace falcon::analysis
