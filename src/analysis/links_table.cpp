#include "analysis/links_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/codec.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "falconbench/errors.h"
#include "report/figures.h"

namespace falcon::analysis {
namespace {

constexpr const char* kHostStaged = "host_staged";
constexpr const char* kAll = "all";

[[noreturn]] void refuse(const std::string& topology, const std::string& why) {
  throw Error(ExitCode::kUsage, "topology " + base::printable(topology) + ": " + why);
}

bool has_attach(const LinkDevice& device, const char* attach) {
  return device.attach.has_value() && *device.attach == attach;
}

std::vector<int> members_of(const LinksReport& links, const std::string& topology) {
  const std::vector<std::string> known = {kAll, kHostStaged, "localGPUs", "falconGPUs",
                                          "hybridGPUs"};
  if (std::find(known.begin(), known.end(), topology) == known.end()) {
    refuse(topology, "a table of links knows " + base::join_or(known));
  }
  std::vector<int> members;
  bool has_local = false;
  bool has_falcon = false;
  for (const LinkDevice& device : links.devices) {
    const bool is_local = has_attach(device, "local");
    const bool is_falcon = has_attach(device, "falcon");
    has_local = has_local || is_local;
    has_falcon = has_falcon || is_falcon;
    if (topology == "localGPUs" ? is_local : topology == "falconGPUs" ? is_falcon : true) {
      members.push_back(device.index);
    }
  }
  if (topology == "hybridGPUs" && !(has_local && has_falcon)) members.clear();
  return members;
}

const CollectiveSeries* all_reduce_of(const LinksReport& links, bool peer_to_peer) {
  for (const CollectiveSeries& series : links.collectives) {
    const bool is_direct = series.peer_to_peer || series.backend == "gloo";
    if (series.operation == "all_reduce" && (is_direct == peer_to_peer || links.pairs.empty()) &&
        !series.by_size.empty()) {
      return &series;
    }
  }
  return nullptr;
}

std::vector<ReducePoint> points_of(const CollectiveSeries& series) {
  std::vector<ReducePoint> points;
  for (const CollectiveFigure& figure : series.by_size) {
    const Spread& time = figure.time_s;
    if (!time.median.has_value()) continue;
    points.push_back({static_cast<double>(figure.size_bytes), *time.median,
                      time.min.value.value_or(*time.median),
                      time.max.value.value_or(*time.median)});
  }
  return points;
}

struct Hop {
  double bytes_per_s = 0, latency_s = 0;
  std::string pair_class;
};

/// The slowest hop of a ring over these devices; both directions of a link are busy in a ring.
Hop slowest_hop(const LinksReport& links, const std::vector<int>& members, bool peer_to_peer,
                const std::string& topology) {
  Hop slowest;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const int from = members[i];
    const int to = members[(i + 1) % members.size()];
    const auto found = std::find_if(links.pairs.begin(), links.pairs.end(), [&](const auto& pair) {
      return pair.source == from && pair.target == to;
    });
    if (found == links.pairs.end()) refuse(topology, "the table lacks a pair of its GPUs");
    const PairFigures& direct = found->peer_to_peer;
    const bool is_direct = peer_to_peer && (direct.both_bytes_per_s.has_value() ||
                                            direct.write_bytes_per_s.has_value());
    const PairFigures& figures = is_direct ? direct : found->host_staged;
    const Measured<double>& both = figures.both_bytes_per_s;
    const Measured<double> rate =
        both.has_value() ? Measured<double>(*both / 2) : figures.write_bytes_per_s;
    if (!rate.has_value()) refuse(topology, "the table lacks the speed of a pair: " + rate.reason);
    if (i == 0 || *rate < slowest.bytes_per_s) {
      slowest = {*rate, figures.latency_s.value.value_or(0), found->pair_class};
    }
  }
  return slowest;
}

std::vector<int> all_members(const LinksReport& links) {
  std::vector<int> members;
  for (const LinkDevice& device : links.devices) members.push_back(device.index);
  return members;
}

Fabric ring_of(const LinksReport& links, const std::vector<int>& members, bool peer_to_peer,
               const std::string& topology) {
  const Hop hop = slowest_hop(links, members, peer_to_peer, topology);
  const std::string speed = report::bytes_text(hop.bytes_per_s) + "/s";
  const CollectiveSeries* series = all_reduce_of(links, peer_to_peer);
  double reached = 1;
  std::string how = "as fast as its slowest hop, " + hop.pair_class + " at " + speed;
  if (series != nullptr && series->bus_bytes_per_s.has_value()) {
    const Hop of_all = slowest_hop(links, all_members(links), peer_to_peer, topology);
    reached = *series->bus_bytes_per_s / of_all.bytes_per_s;
    how += ", times the " + report::percent(reached) +
           " that all_reduce over all GPUs reaches of its own";
  }
  return ring_fabric(topology, hop.bytes_per_s * reached, hop.latency_s, "a ring " + how);
}

double gigabytes(double bytes) {
  return bytes * 1e-9;
}

std::string spread_text(const Spread& spread, double scale) {
  if (!spread.median.has_value()) return "n/a: " + spread.median.reason;
  std::string text = report::figure(*spread.median * scale);
  if (spread.min.has_value() && spread.max.has_value() && spread.count > 1) {
    text += " (" + report::figure(*spread.min * scale) + " to " +
            report::figure(*spread.max * scale) + ")";
  }
  return text;
}

Chart matrix_of(const LinksReport& links) {
  Chart chart;
  chart.id = "links";
  chart.kind = "heat";
  chart.title = "Links between GPUs, both ways at once";
  chart.note =
      "Payload of copies from the row to the column and back at the same time, sum of the "
      "two, at the largest size. " +
      links.run.hostname + ", " + links.run.started_at + ".";
  chart.unit = "GB/s";
  std::map<int, std::size_t> column_of;
  for (const LinkDevice& device : links.devices) {
    column_of[device.index] = chart.columns.size();
    chart.columns.push_back(device.name);
  }
  const auto add_panel = [&](const char* panel, PairFigures LinkPair::*figures) {
    for (const LinkDevice& device : links.devices) {
      ChartRow row;
      row.panel = panel;
      row.label = device.name;
      row.runs = 1;
      row.values.resize(chart.columns.size());
      for (const LinkPair& pair : links.pairs) {
        if (pair.source != device.index || !column_of.contains(pair.target)) continue;
        const Measured<double>& both = (pair.*figures).both_bytes_per_s;
        if (both.has_value()) row.values[column_of[pair.target]] = gigabytes(*both);
        if (!both.has_value()) row.missing = both.reason;
      }
      chart.rows.push_back(std::move(row));
    }
  };
  add_panel("direct (peer to peer)", &LinkPair::peer_to_peer);
  add_panel("through host memory", &LinkPair::host_staged);
  if (links.pairs.empty()) chart.empty = "no pair of GPUs was measured";
  return chart;
}

}  // namespace

LinksReport read_links(const std::string& path) {
  const base::Value value = base::parse_json(base::read_file(path), path);
  const base::Value* document = value.find("document");
  if (document == nullptr || !document->is_text() || document->as_text() != "links") {
    throw InputError({Fault{path, value.mark.line, value.mark.column, "",
                            "is no document of falconbench links --json"}});
  }
  std::vector<Fault> faults;
  base::Reader reader(nullptr, faults);
  reader.skip_unknown_keys();
  LinksReport links;
  reader.read(value, "", links);
  if (!faults.empty()) throw InputError(std::move(faults));
  return links;
}

int devices_in(const LinksReport& links, const std::string& topology) {
  return static_cast<int>(members_of(links, topology).size());
}

Fabric fabric_of(const LinksReport& links, const std::string& topology) {
  const std::vector<int> members = members_of(links, topology);
  if (members.size() < 2) refuse(topology, "the table of links has fewer than two such GPUs");
  const bool peer_to_peer = topology != kHostStaged;
  const bool is_whole = members.size() == links.devices.size();
  const CollectiveSeries* series = is_whole ? all_reduce_of(links, peer_to_peer) : nullptr;
  if (series == nullptr) return ring_of(links, members, peer_to_peer, topology);
  std::vector<ReducePoint> points = points_of(*series);
  if (points.empty()) refuse(topology, "the table has no time of an all_reduce");
  return {topology, std::max(2, static_cast<int>(series->ranks)), std::move(points),
          "all_reduce measured over " + std::to_string(series->ranks) + " devices (" +
              series->backend + (peer_to_peer ? ")" : ", without direct access)")};
}

void add_link_figures(const LinksReport& links, std::vector<Chart>& charts,
                      std::vector<PageTable>& tables) {
  // behind the first chart, which it explains
  charts.insert(charts.begin() + (charts.empty() ? 0 : 1), matrix_of(links));
  PageTable table{
      "link_classes",
      "Links by class of pair",
      "Medians over the pairs of a class, smallest and largest beside them. Both ways: sum "
      "of the two directions. The paper's Table IV.",
      {{"class", "pairs", "way", "both ways, GB/s", "write one way, GB/s", "latency, us"}}};
  for (const LinkClass& one : links.classes) {
    for (const auto& [way, figures] :
         {std::pair<const char*, const ClassFigures*>("direct", &one.peer_to_peer),
          {"through host memory", &one.host_staged}}) {
      table.rows.push_back(
          {one.name, std::to_string(one.pairs), way, spread_text(figures->both_bytes_per_s, 1e-9),
           spread_text(figures->write_bytes_per_s, 1e-9), spread_text(figures->latency_s, 1e6)});
    }
  }
  tables.push_back(std::move(table));
}

}  // namespace falcon::analysis
