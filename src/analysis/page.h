// The page as one HTML file, and its figures as CSV.
#pragma once
#include <map>
#include <string>

#include "analysis/page_data.h"

namespace falcon::analysis {

/// Self-contained: style, scripts and data are in it, its policy forbids the network. Texts of
/// reports stand in it as JSON only, with < > & escaped, and reach the document as text.
std::string page_html(const PageData& data);

/// File name -> CSV of every chart and table.
std::map<std::string, std::string> page_csv(const PageData& data);

}  // namespace falcon::analysis
