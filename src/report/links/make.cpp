#include "report/links/make.h"

#include <set>

#include "base/revision.h"
#include "report/links/figures.h"
#include "report/links/findings.h"
#include "report/links/pairs.h"

namespace falcon::report {
namespace {

CopySeries make_host_memory(const LinksInput& input) {
  CopySeries missing;
  missing.method = "memcpy";
  missing.bytes_per_s = Measured<double>::missing("not measured");
  for (std::size_t i = 0; i < input.copies.copies.size(); ++i) {
    const CopyTask& task = input.copy_work.copies.at(i);
    const LinkFlow& flow = task.flows.front();
    if (flow.source == kHostMemory && flow.target == kHostMemory) {
      return copy_series(task, input.copies.copies[i]);
    }
  }
  return missing;
}

Measured<std::vector<std::string>> kinds_of(const CollectivePass& pass) {
  using Kinds = Measured<std::vector<std::string>>;
  std::set<std::string> kinds;
  if (pass.transports.empty()) return Kinds::missing(pass.error);
  for (const auto& rank : pass.transports) {
    if (!rank.has_value()) return Kinds::missing(rank.reason);
    for (const Transport& transport : *rank) kinds.insert(transport.via);
  }
  return std::vector<std::string>(kinds.begin(), kinds.end());
}

CollectiveSeries series_of(const CollectivePass& pass, std::size_t task) {
  const std::string& operation = pass.work.collectives.at(task).operation;
  CollectiveSeries series;
  if (pass.ranks.empty()) {
    series.operation = operation;
    series.bus_bytes_per_s = Measured<double>::missing(pass.error);
  } else {
    std::vector<const LinkResult*> ranks;
    for (const LinkRecords& rank : pass.ranks) ranks.push_back(&rank.collectives.at(task));
    series = collective_series(operation, ranks);
    series.data_type = pass.ranks.front().data_type;
  }
  series.peer_to_peer = pass.peer_to_peer;
  series.backend = pass.backend;
  series.transports = kinds_of(pass);
  return series;
}

std::vector<CollectiveSeries> make_collectives(const LinksInput& input) {
  std::vector<CollectiveSeries> all;
  for (const CollectivePass& pass : input.collectives) {
    for (std::size_t task = 0; task < pass.work.collectives.size(); ++task) {
      all.push_back(series_of(pass, task));
    }
  }
  return all;
}

Measured<ReportError> error_of(const std::optional<RunFailure>& failure) {
  if (!failure) return Measured<ReportError>::missing("everything was measured");
  ReportError error;
  error.kind = failure->kind;
  error.message = failure->message;
  error.rank = failure->rank < 0 ? Measured<int>::missing("it concerns no rank alone")
                                 : Measured<int>(failure->rank);
  error.host = failure->host;
  error.device = failure->device;
  error.phase = failure->phase;
  error.last_step = Measured<std::int64_t>::missing("links are measured without steps");
  return error;
}

}  // namespace

LinksReport make_links(const LinksInput& input) {
  LinksReport report;
  report.tool = {"falconbench", base::version(), base::revision()};
  report.run = input.run;
  report.system = input.host;
  report.topology = {input.requested, input.system.path};
  report.acs_bridges = input.acs_bridges;
  report.devices = input.devices;
  report.pairs = make_pairs(input);
  report.classes = make_classes(report.pairs);
  report.host = make_host_copies(input);
  report.host_together = make_host_together(input, report.host);
  report.host_memory = make_host_memory(input);
  report.collectives = make_collectives(input);
  report.error = error_of(input.failure);
  report.findings = find_in_links(report);
  return report;
}

}  // namespace falcon::report
