#include "analysis/page_data.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/page_charts.h"
#include "analysis/page_groups.h"
#include "report/figures.h"

namespace falcon::analysis {
namespace {

using report::figure;
using report::percent;

std::string count_of(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// The order of the page; what is not named here comes last.
void order_charts(std::vector<Chart>& charts) {
  const std::vector<std::string> order{
      "training_time",     "phases", "gpu_over_time", "gpu_busy", "gpu_memory",
      "gpu_memory_access", "pcie",   "storage",       "software", "steps"};
  const auto place = [&order](const Chart& chart) {
    return std::find(order.begin(), order.end(), chart.id) - order.begin();
  };
  std::stable_sort(charts.begin(), charts.end(),
                   [&place](const Chart& a, const Chart& b) { return place(a) < place(b); });
}

/// The phase, or the pauses, that grew most from the base to the group, in words.
std::string main_cause(const PageGroup& group, const PageGroup& base) {
  using Figure = std::function<const Measured<double>&(const PageRun&)>;
  const auto mean_ms = [](const PageGroup& of, const Figure& part) {
    double sum = 0;
    for (const PageRun* run : of.counted) {
      const Measured<double>& ms = part(*run);
      if (!ms.has_value()) return std::optional<double>();
      sum += *ms;
    }
    return of.counted.empty() ? std::nullopt
                              : std::optional(sum / static_cast<double>(of.counted.size()));
  };
  std::vector<std::pair<std::string, Figure>> parts;
  for (const std::string& phase : phase_names()) {
    parts.emplace_back(phase, [phase](const PageRun& run) -> const Measured<double>& {
      return run.phases_ms.at(phase);
    });
  }
  parts.emplace_back("checkpoints and evaluation",
                     [](const PageRun& run) -> const Measured<double>& { return run.pauses_ms; });
  std::string cause;
  double largest = 0;
  for (const auto& [name, ms] : parts) {
    const std::optional<double> now = mean_ms(group, ms);
    const std::optional<double> before = mean_ms(base, ms);
    if (!now || !before || *now - *before <= largest) continue;
    largest = *now - *before;
    cause = name + ", " + figure(*before) + " to " + figure(*now) + " ms a step";
  }
  return cause.empty() ? "no phase grew, or phases are not known" : cause;
}

std::string change_text(double ratio) {
  return (ratio < 1 ? "" : "+") + percent(ratio - 1);
}

PageTable answers_table(const std::vector<PageGroup>& groups) {
  PageTable table{
      "answers",
      "Which workload loses what, and why",
      "Slowdown: training time, checkpoints and evaluation included, over that of the base, minus "
      "1. Largest first.",
      {{"model", "configuration", "against", "slowdown", "ratio", "runs", "what grew most"}}};
  std::vector<std::pair<double, std::vector<std::string>>> rows;
  for (const PageGroup& group : groups) {
    const PageGroup& base = groups[group.base];
    const Measured<double>& time = group.grouped.group.sample_time_ms;
    const Measured<double>& base_time = base.grouped.group.sample_time_ms;
    if (&group == &base || !time.has_value() || !base_time.has_value()) continue;
    const double ratio = *time / *base_time;
    rows.push_back({ratio,
                    {group.grouped.group.model,
                     group.grouped.group.name + (group.grouped.group.emulated ? " (emulated)" : ""),
                     base.grouped.group.name, change_text(ratio), figure(ratio),
                     std::to_string(group.grouped.group.runs) + " against " +
                         std::to_string(base.grouped.group.runs),
                     main_cause(group, base)}});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [ratio, cells] : rows) table.rows.push_back(std::move(cells));
  return table;
}

PageTable findings_table(const std::vector<PageRun>& runs) {
  struct Seen {
    std::vector<std::string> names;
    Finding first;
  };
  std::map<std::pair<std::string, std::string>, Seen> seen;
  for (const PageRun& run : runs) {
    for (const Finding& finding : run.findings) {
      Seen& entry = seen[{finding.severity, finding.id}];
      if (entry.names.empty()) entry.first = finding;
      if (entry.names.empty() || entry.names.back() != run.facts.name) {
        entry.names.push_back(run.facts.name);
      }
    }
  }
  PageTable table{"findings",
                  "Findings",
                  "What the runs noticed about themselves: one line a kind, with the words of the "
                  "first run.",
                  {{"severity", "finding", "runs", "message", "advice", "first runs"}}};
  for (const char* severity : {"invalid", "warning", "info"}) {
    for (const auto& [key, entry] : seen) {
      if (key.first != severity) continue;
      std::string names;
      for (std::size_t i = 0; i < std::min<std::size_t>(entry.names.size(), 5); ++i) {
        names += (i == 0 ? "" : ", ") + entry.names[i];
      }
      table.rows.push_back({severity, key.second, std::to_string(entry.names.size()),
                            entry.first.message, entry.first.advice, names});
    }
  }
  return table;
}

PageTable runs_table(const std::vector<PageRun>& runs) {
  PageTable table{"runs",
                  "Runs",
                  "Every report, as it was given.",
                  {{"file", "model", "configuration", "status", "samples/s", "step, ms", "topology",
                    "started", "error"}}};
  const auto shown = [](const Measured<double>& value) {
    return value.has_value() ? figure(*value) : "n/a (" + value.reason + ")";
  };
  for (const PageRun& run : runs) {
    const RunFacts& facts = run.facts;
    table.rows.push_back({facts.file, facts.model, configuration_name(facts), facts.status,
                          shown(facts.samples_per_s), shown(facts.step_ms),
                          facts.topology_verdict + (facts.emulated ? ", emulated" : ""),
                          facts.started_at, facts.error});
  }
  return table;
}

PageTable machines_table(const std::vector<PageRun>& runs) {
  PageTable table{"machines", "Machines", "Each combination of host, devices and versions.", {}};
  std::map<std::map<std::string, std::string>, int> machines;
  for (const PageRun& run : runs) ++machines[run.machine];
  std::vector<std::string> head{"runs"};
  if (!machines.empty()) {
    for (const auto& [what, text] : machines.begin()->first) head.push_back(what);
  }
  table.rows.push_back(head);
  for (const auto& [machine, number] : machines) {
    std::vector<std::string> row{std::to_string(number)};
    for (const auto& [what, text] : machine) row.push_back(text);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_notices(const std::vector<PageRun>& runs, PageData& out) {
  const auto count = [&runs](auto&& holds) {
    return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), holds));
  };
  const std::size_t failed = count([](const PageRun& run) { return run.facts.status != "ok"; });
  const std::size_t emulated = count([](const PageRun& run) { return run.facts.emulated; });
  if (failed > 0) {
    out.notices.push_back(count_of(failed, "run") +
                          " did not end well: counted and listed, but in no figure.");
  }
  if (emulated > 0) {
    out.notices.push_back(count_of(emulated, "run") +
                          " emulated the chassis: an effect was imposed, no chassis was there. "
                          "Such rows are hatched and say so.");
  }
  out.subtitle =
      count_of(runs.size(), "report") + ", " + std::to_string(runs.size() - failed) + " ended well";
}

}  // namespace

PageData make_page_data(const std::vector<PageRun>& runs, const Price& price) {
  std::vector<RunFacts> facts;
  for (const PageRun& run : runs) facts.push_back(run.facts);
  const std::vector<PageGroup> groups = page_groups(runs, facts);
  PageData out;
  out.title = "falconbench: what a GPU costs, where it sits";
  add_notices(runs, out);
  out.answers = {answers_table(groups)};
  add_bar_charts(groups, price, out.charts);
  add_step_charts(groups, out.charts);
  order_charts(out.charts);
  out.tables = {findings_table(runs), runs_table(runs), machines_table(runs)};
  return out;
}

}  // namespace falcon::analysis
