// A comparison as people and spreadsheets read it.
#pragma once
#include <string>

#include "analysis/compare.h"

namespace falcon::analysis {

/// Plain text for a terminal: differences first, then a table a model. What is missing is n/a, with
/// its reason below the table.
std::string table_text(const CompareResult& result);
/// The same as GitHub Markdown.
std::string markdown_text(const CompareResult& result);
/// RFC 4180, one line a comparison and figure; missing values are empty, with the reason in the
/// last column.
std::string csv_text(const CompareResult& result);
/// One object by the field lists.
std::string json_text(const CompareResult& result);

/// JUnit XML, a test case a comparison: a regression fails, what is unclear is skipped.
std::string junit_of(const CompareResult& result);

}  // namespace falcon::analysis
