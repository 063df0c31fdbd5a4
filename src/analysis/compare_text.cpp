#include "analysis/compare_text.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/csv.h"
#include "analysis/export/junit.h"
#include "analysis/text_table.h"
#include "base/codec.h"
#include "base/json.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/writable.h"

namespace falcon::analysis {
namespace {

using report::figure;

/// Reasons why figures are missing, each once, in the order of their first use.
class Notes {
 public:
  void add(const std::string& what, const std::string& reason) {
    const std::string note = what + ": " + base::printable(reason, 300);
    if (seen_.insert(note).second) notes_.push_back(note);
  }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> notes_;
};

std::string signed_percent(double percent) {
  return (percent < 0 ? "" : "+") + report::percent(percent / 100);
}

std::string show(const Measured<double>& value, const std::string& what, Notes& notes) {
  if (value.has_value()) return figure(*value);
  notes.add(what, value.reason);
  return "n/a";
}

/// A figure in the unit of the table: bytes as text with prefix.
std::string show_figure(const FigureChange& change, const Measured<double>& value, Notes& notes) {
  if (value.has_value() && change.unit == "bytes/s") return report::bytes_text(*value) + "/s";
  return show(value, change.name, notes);
}

std::string title_of(const FigureChange& change) {
  return change.unit == "bytes/s" ? change.name : change.name + ", " + change.unit;
}

std::string interval_text(const Comparison& comparison, Notes& notes) {
  if (comparison.time_ratio_low.has_value()) {
    return figure(*comparison.time_ratio_low) + " to " + figure(*comparison.time_ratio_high);
  }
  notes.add("95 % interval", comparison.time_ratio_low.reason);
  return "n/a";
}

std::string runs_text(const RunGroup& group) {
  std::string text = std::to_string(group.runs);
  if (group.failed > 0) text += " (" + std::to_string(group.failed) + " failed)";
  return text;
}

std::string name_text(const RunGroup& group) {
  return base::printable(group.name, 120) + (group.emulated ? " (emulated)" : "");
}

std::vector<std::string> base_row(const Comparison& comparison, Notes& notes) {
  std::vector<std::string> row{
      name_text(comparison.base) + " (base)", runs_text(comparison.base), "1", "", "", ""};
  for (const FigureChange& change : comparison.figures) {
    row.push_back(show_figure(change, change.base, notes));
  }
  return row;
}

std::vector<std::string> other_row(const Comparison& comparison, Notes& notes) {
  std::vector<std::string> row{
      name_text(comparison.other), runs_text(comparison.other),
      show(comparison.time_ratio, "time ratio", notes),
      comparison.time_change_pct.has_value() ? signed_percent(*comparison.time_change_pct) : "n/a",
      interval_text(comparison, notes)};
  if (!comparison.speed.has_value() || !comparison.speed.value->p_rank.has_value()) {
    notes.add("p", comparison.speed.has_value() ? comparison.speed.value->p_rank.reason
                                                : comparison.speed.reason);
    row.emplace_back("n/a");
  } else {
    row.push_back(figure(*comparison.speed.value->p_rank));
  }
  for (const FigureChange& change : comparison.figures) {
    row.push_back(show_figure(change, change.other, notes));
  }
  return row;
}

std::vector<std::string> head_row(const Comparison& comparison) {
  std::vector<std::string> row{"configuration", "runs",          "time ratio",
                               "slowdown",      "95 % of ratio", "p slower"};
  for (const FigureChange& change : comparison.figures) row.push_back(title_of(change));
  return row;
}

/// Without the columns that are n/a in all rows: the notes below the table tell why.
Rows without_empty_columns(const Rows& rows) {
  Rows out(rows.size());
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    const bool is_empty = std::all_of(rows.begin() + 1, rows.end(), [column](const auto& row) {
      return row[column] == "n/a" || row[column].empty();
    });
    for (std::size_t i = 0; i < rows.size() && !is_empty; ++i) out[i].push_back(rows[i][column]);
  }
  return out;
}

/// Comparisons of one model and one base stand in one table.
std::vector<std::pair<std::size_t, std::size_t>> table_ranges(const CompareResult& result) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < result.comparisons.size(); ++i) {
    const bool goes_on =
        i > 0 && result.comparisons[i].base.files == result.comparisons[i - 1].base.files;
    if (goes_on) {
      ranges.back().second = i + 1;
    } else {
      ranges.emplace_back(i, i + 1);
    }
  }
  return ranges;
}

std::string difference_text(const Comparison& comparison, const Style& style) {
  std::string text =
      style.paragraph(name_text(comparison.other) + " against " + name_text(comparison.base) + ":");
  if (comparison.differences.empty()) {
    return text + style.item("the same spec, program and host");
  }
  for (const SpecDifference& difference : comparison.differences) {
    const auto shown = [](const std::string& value) {
      return value.empty() ? std::string("-") : base::printable(value, 120);
    };
    text += style.item((difference.is_work ? "DIFFERENT WORK " : "") + difference.key + ": " +
                       shown(difference.base) + " -> " + shown(difference.other));
  }
  return text;
}

std::string gate_text(const CompareResult& result, const Style& style) {
  if (!result.has_gate) return "";
  std::string text = style.paragraph("gate: " + result.verdict);
  for (const Comparison& comparison : result.comparisons) {
    text += style.item(comparison.other.model + ", " + name_text(comparison.other) + ": " +
                       comparison.speed.value->verdict + " (" + comparison.speed.value->why + ")");
  }
  return text;
}

std::string text_of(const CompareResult& result, const Style& style) {
  std::string text;
  Notes notes;
  for (const auto& [begin, end] : table_ranges(result)) {
    const Comparison& first = result.comparisons[begin];
    text += style.heading(first.base.model);
    Rows rows{head_row(first), base_row(first, notes)};
    for (std::size_t i = begin; i < end; ++i) {
      text += difference_text(result.comparisons[i], style);
      rows.push_back(other_row(result.comparisons[i], notes));
    }
    text += "\n" + style.table(without_empty_columns(rows)) + "\n";
  }
  text += gate_text(result, style);
  if (!notes.notes().empty()) text += style.paragraph("not available:");
  for (const std::string& note : notes.notes()) text += style.item(note);
  return text;
}

void add_csv_line(const Comparison& comparison, const FigureChange& change, std::string& out) {
  const auto number = [](const Measured<double>& value) {
    return value.has_value() ? base::number_text(*value) : std::string();
  };
  out += csv_line({comparison.base.model, comparison.base.name, comparison.other.name,
                   std::to_string(comparison.base.runs), std::to_string(comparison.other.runs),
                   comparison.other.emulated ? "yes" : "no", change.name, change.unit,
                   number(change.base), number(change.other), number(change.change_pct),
                   change.change_pct.reason});
}

}  // namespace

std::string table_text(const CompareResult& result) {
  return text_of(result, plain_style());
}

std::string markdown_text(const CompareResult& result) {
  return text_of(result, markdown_style());
}

std::string csv_text(const CompareResult& result) {
  std::string out = csv_line({"model", "base", "configuration", "base_runs", "runs", "emulated",
                              "figure", "unit", "base_value", "value", "change_pct", "reason"});
  for (const Comparison& comparison : result.comparisons) {
    const FigureChange time{"training time a sample", "ms", comparison.base.sample_time_ms,
                            comparison.other.sample_time_ms, comparison.time_change_pct};
    add_csv_line(comparison, time, out);
    for (const FigureChange& change : comparison.figures) add_csv_line(comparison, change, out);
  }
  return out;
}

std::string junit_of(const CompareResult& result) {
  std::vector<TestCase> tests;
  for (const Comparison& comparison : result.comparisons) {
    TestCase test;
    test.group = "falconbench.compare." + comparison.other.model;
    test.name = name_text(comparison.other) + " against " + name_text(comparison.base);
    if (comparison.speed.has_value()) {
      const GateResult& speed = *comparison.speed;
      if (speed.verdict == "regression") test.failure = speed.why;
      if (speed.verdict == "unclear") test.skipped = speed.why;
      test.output = "slowdown " + signed_percent(100 * speed.slowdown) + "\n";
    } else {
      test.failure = comparison.speed.reason;
    }
    tests.push_back(test);
  }
  return junit_text("falconbench compare", tests);
}

std::string json_text(const CompareResult& result) {
  return base::to_json(report::writable(base::to_value(result)), 2) + "\n";
}

}  // namespace falcon::analysis
