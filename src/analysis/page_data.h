// All that the page shows, from any set of runs. Pure.
#pragma once
#include <string>
#include <vector>

#include "analysis/charts.h"
#include "analysis/compare.h"
#include "analysis/page_run.h"

namespace falcon::analysis {

struct PageData {
  std::string title, subtitle;
  std::vector<std::string> notices;
  std::vector<PageTable> answers;
  std::vector<Chart> charts;
  std::vector<PageTable> tables;
};
template <class V>
void visit_fields(PageData& d, V& v) {
  v.field("title", d.title, "head of the page");
  v.field("subtitle", d.subtitle, "number of reports and how they ended");
  v.field("notices", d.notices, "what a reader must know first: failed runs, emulation");
  v.field("answers", d.answers, "the short answer, above the charts");
  v.field("charts", d.charts, "in the order of the page");
  v.field("tables", d.tables, "findings, runs, machines");
}

PageData make_page_data(const std::vector<PageRun>& runs, const Price& price);

}  // namespace falcon::analysis
