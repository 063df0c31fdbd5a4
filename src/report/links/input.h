// Everything that `falconbench links` knows when it makes its report.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "falconbench/links.h"
#include "falconbench/links_work.h"
#include "falconbench/places.h"
#include "falconbench/records.h"
#include "falconbench/system_file.h"

namespace falcon::report {

/// One pass over the collectives with the same settings.
struct CollectivePass {
  bool peer_to_peer = false;
  std::string backend;
  LinkWork work;
  std::vector<LinkRecords> ranks;                            // empty: the pass failed
  std::vector<Measured<std::vector<Transport>>> transports;  // beside ranks
  std::string error;                                         // why
};

struct LinksInput {
  LinksRun run;
  Host host;
  SystemFile system;
  NameOrList requested;
  std::vector<LinkDevice> devices;
  Places places;
  Measured<std::vector<std::string>> acs_bridges;
  LinkWork copy_work;
  LinkRecords copies;  // a result of each task of copy_work
  std::vector<CollectivePass> collectives;
  std::optional<RunFailure> failure;
};

}  // namespace falcon::report
