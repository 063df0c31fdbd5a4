// The hosts of one run, as the first of them, which writes the report, knows them.
#pragma once
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/host.h"
#include "falconbench/measured.h"
#include "falconbench/storage_sight.h"
#include "falconbench/telemetry.h"

namespace falcon {

struct RunHost {
  std::string name;  // unique in the run
  std::string address, interface;
  std::vector<int> ranks;
  Measured<double> clock_offset_s, clock_uncertainty_s;
};
template <class V>
void visit_fields(RunHost& h, V& v) {
  v.field("name", h.name, "host name; with its address where two have the same");
  v.field("address", h.address, "as the first host sees it; empty for a run on one host");
  v.field("interface", h.interface, "network interface between the hosts, for Gloo and NCCL");
  v.field("ranks", h.ranks, "global ranks on it");
  v.field("clock_offset_s", h.clock_offset_s,
          "its steady clock minus that of the first host; times of the report are already aligned");
  v.field("clock_uncertainty_s", h.clock_uncertainty_s,
          "half the shortest round trip: the offset is that exact");
}

/// What the launcher of a host saw of the run.
struct HostSight {
  Telemetry telemetry;
  StorageSight storage;
};
template <class V>
void visit_fields(HostSight& s, V& v) {
  v.field("telemetry", s.telemetry, "what was sampled");
  v.field("storage", s.storage, "what the data lies on");
}

/// The host with rank 0, and the others of a run on several.
struct ReportSystem : Host {
  std::vector<Host> hosts;
};
template <class V>
void visit_fields(ReportSystem& s, V& v) {
  visit_fields(static_cast<Host&>(s), v);
  v.field("hosts", s.hosts, "the other hosts of a run on several");
}

}  // namespace falcon
