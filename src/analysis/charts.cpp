#include "analysis/charts.h"

#include "analysis/csv.h"
#include "base/text.h"

namespace falcon::analysis {
namespace {

std::string number(const std::optional<double>& value) {
  return value ? base::number_text(*value) : "";
}

/// Lines have one reading a CSV line: their lengths differ.
std::string lines_csv(const Chart& chart) {
  std::string out = csv_line(
      {"panel", "configuration", "runs", "emulated", "t_s", "value, " + chart.unit, "missing"});
  for (const ChartRow& row : chart.rows) {
    const std::string runs = std::to_string(row.runs);
    const std::string emulated = row.emulated ? "yes" : "no";
    if (row.values.empty()) {
      out += csv_line({row.panel, row.label, runs, emulated, "", "", row.missing});
    }
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const double end_s = row.interval_s * static_cast<double>(i + 1);
      out += csv_line({row.panel, row.label, runs, emulated, base::number_text(end_s),
                       number(row.values[i]), row.missing});
    }
  }
  return out;
}

}  // namespace

std::string chart_csv(const Chart& chart) {
  if (chart.kind == "lines") return lines_csv(chart);
  std::vector<std::string> head{"panel", "configuration", "runs", "emulated"};
  head.insert(head.end(), chart.columns.begin(), chart.columns.end());
  head.emplace_back("missing");
  std::string out = csv_line(head);
  for (const ChartRow& row : chart.rows) {
    std::vector<std::string> fields{row.panel, row.label, std::to_string(row.runs),
                                    row.emulated ? "yes" : "no"};
    for (std::size_t i = 0; i < chart.columns.size(); ++i) {
      fields.push_back(i < row.values.size() ? number(row.values[i]) : "");
    }
    fields.push_back(row.missing);
    out += csv_line(fields);
  }
  return out;
}

std::string table_csv(const PageTable& table) {
  std::string out;
  for (const std::vector<std::string>& row : table.rows) out += csv_line(row);
  return out;
}

}  // namespace falcon::analysis
