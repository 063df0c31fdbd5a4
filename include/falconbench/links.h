// What `falconbench links` measured: one object, written as JSON (schemas/links.schema.json is made
// from these lists) and read again as a table of links. report::make_links() fills it, pure. A null
// has its reason beside it; units are in the names.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/finding.h"
#include "falconbench/host.h"
#include "falconbench/links_places.h"
#include "falconbench/measured.h"
#include "falconbench/report.h"

namespace falcon {

struct LinksRun {
  std::string id, status;
  int exit_code = 0;
  std::string started_at, ended_at;
  double duration_s = 0;
  std::vector<std::string> command_line;
  std::string hostname;
};
template <class V>
void visit_fields(LinksRun& r, V& v) {
  v.field("id", r.id, "unique");
  v.field("status", r.status, "ok, failed or interrupted");
  v.field("exit_code", r.exit_code, "of the program");
  v.field("started_at", r.started_at, "wall clock, UTC");
  v.field("ended_at", r.ended_at, "wall clock, UTC");
  v.field("duration_s", r.duration_s, "from start to end, steady clock");
  v.field("command_line", r.command_line, "as the program was called");
  v.field("hostname", r.hostname, "host that was measured");
}

struct LinksTopology {
  NameOrList requested;
  std::string system_file;
};
template <class V>
void visit_fields(LinksTopology& t, V& v) {
  v.field("requested", t.requested, "as asked for");
  v.field("system_file", t.system_file, "file that names the GPUs; empty: none");
}

struct LinksReport {
  int schema_version = 1;
  std::string document = "links";
  Tool tool;
  LinksRun run;
  Host system;
  LinksTopology topology;
  Measured<std::vector<std::string>> acs_bridges;
  std::vector<LinkDevice> devices;
  std::vector<LinkClass> classes;
  std::vector<LinkPair> pairs;
  std::vector<HostCopies> host;
  std::vector<HostCopiesTogether> host_together;
  CopySeries host_memory;
  std::vector<CollectiveSeries> collectives;
  std::vector<Finding> findings;
  Measured<ReportError> error;
};
template <class V>
void visit_fields(LinksReport& r, V& v) {
  v.field("schema_version", r.schema_version, "1: grows by new fields only");
  v.field("document", r.document, "links: what kind of document this is");
  v.field("tool", r.tool, "what made it");
  v.field("run", r.run, "the measurement and how it ended");
  v.field("system", r.system, "the machine");
  v.field("topology", r.topology, "devices asked for");
  v.field("acs_bridges", r.acs_bridges,
          "bridges above the GPUs whose access control sends peer traffic up to the root complex");
  v.field("devices", r.devices, "devices that were measured, in rank order");
  v.field("classes", r.classes, "pair classes: medians over their pairs");
  v.field("pairs", r.pairs, "every ordered pair of GPUs");
  v.field("host", r.host, "each GPU and host memory");
  v.field("host_together", r.host_together, "all GPUs and host memory at the same time");
  v.field("host_memory", r.host_memory, "copies from host memory to host memory, one thread");
  v.field("collectives", r.collectives, "bus bandwidth of collectives over all devices");
  v.field("findings", r.findings, "what is worth knowing");
  v.field("error", r.error, "why the measurement did not end well");
}

}  // namespace falcon
