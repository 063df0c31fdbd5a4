// What the page shows, as tables: each chart is its rows, and the page, the table under it and its
// CSV file are all made from them. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"

namespace falcon::analysis {

/// One bar, box, stack, line or row of a heat map. A value that is not there is missing, never 0.
struct ChartRow {
  std::string panel, label, color_key;
  std::int64_t runs = 0;
  bool emulated = false;
  double interval_s = 0;
  std::vector<std::optional<double>> values;
  std::string missing;
};
template <class V>
void visit_fields(ChartRow& r, V& v) {
  v.field("panel", r.panel, "part of the chart it belongs to: the model");
  v.field("label", r.label, "configuration");
  v.field("color_key", r.color_key, "rows with the same word look alike in all charts");
  v.field("runs", r.runs, "runs it stands for");
  v.field("emulated", r.emulated, "an effect of the chassis was imposed");
  v.field("interval_s", r.interval_s, "lines: from one value to the next");
  v.field("values", r.values, "one for each column; lines: means of the intervals");
  v.field("missing", r.missing, "why values are missing");
}

/// kind: bars (value, low, high); stack (parts of a sum); boxes (min, p50, p90, p95, p99, max);
/// lines (a row a line, values at equal intervals); heat (a matrix).
struct Chart {
  std::string id, kind, title, note, unit;
  std::vector<std::string> columns;
  std::optional<double> reference;
  std::vector<ChartRow> rows;
  std::string empty;
};
template <class V>
void visit_fields(Chart& c, V& v) {
  v.field("id", c.id, "word for addresses and file names");
  v.field("kind", c.kind, "bars, stack, boxes, lines or heat");
  v.field("title", c.title, "what is shown");
  v.field("note", c.note, "how to read it");
  v.field("unit", c.unit, "of the values");
  v.field("columns", c.columns, "names of the values, with units");
  v.field("reference", c.reference, "value at which a line is drawn");
  v.field("rows", c.rows, "what is drawn");
  v.field("empty", c.empty, "why there is nothing to draw");
}

/// A table without a chart. The first row is its head.
struct PageTable {
  std::string id, title, note;
  std::vector<std::vector<std::string>> rows;
};
template <class V>
void visit_fields(PageTable& t, V& v) {
  v.field("id", t.id, "word for addresses and file names");
  v.field("title", t.title, "what it holds");
  v.field("note", t.note, "how to read it");
  v.field("rows", t.rows, "cells; the first row is the head");
}

/// RFC 4180, with a head. Missing values are empty, the last column tells why.
std::string chart_csv(const Chart& chart);
std::string table_csv(const PageTable& table);

}  // namespace falcon::analysis
