#include "report/links/findings.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>

#include "base/text.h"
#include "report/findings.h"

namespace falcon::report {
namespace {

// Healthy links of one kind differ by so much from machine to machine: 46.8 to 55.1 GB/s from H100s
// behind Gen5 x16.
constexpr double kPracticalShare = 0.85;
constexpr double kExpectedShare = 0.97;  // what repeats of a measurement differ by
// Direct copies that are no faster than this over staged ones are staged somewhere too. The closest
// healthy pair on record: 26.3 against 22.2 GB/s.
constexpr double kStagedShare = 1.1;
constexpr double kSharedShare = 0.9;

std::string gb_text(double bytes_per_s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB/s", bytes_per_s / 1e9);
  return text;
}

std::string us_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", seconds * 1e6);
  return text;
}

std::string name_of(const LinkPair& pair) {
  return pair.source_name + " to " + pair.target_name;
}

/// One note for all places with the same fault.
struct Group {
  std::vector<std::string> places;
  std::vector<std::string> evidence;
};

Notes notes_of(const std::string& message, const Group& group, const std::string& advice) {
  if (group.places.empty()) return {};
  return {
      {message + ": " + base::join(group.places, "; "), base::join(group.evidence, "; "), advice}};
}

void add_wrong(const std::vector<CopySeries>& all, const std::string& place, Group& group) {
  for (const CopySeries& series : all) {
    for (const CopyFigure& figure : series.by_size) {
      if (!figure.contents_match.has_value() || *figure.contents_match) continue;
      group.places.push_back(place);
      group.evidence.push_back(series.method + (series.both_ways ? " both ways" : "") +
                               (series.peer_to_peer ? ", peer to peer" : "") + ", " +
                               std::to_string(figure.size_bytes) + " bytes");
      break;
    }
  }
}

Notes contents_wrong(const LinksReport& report) {
  Group group;
  for (const LinkPair& pair : report.pairs) add_wrong(pair.copies, name_of(pair), group);
  for (const HostCopies& host : report.host) add_wrong(host.copies, host.name, group);
  for (const HostCopiesTogether& together : report.host_together) {
    if (!together.contents_match.has_value() || *together.contents_match) continue;
    group.places.emplace_back("GPUs at once (" + together.name + ")");
    group.evidence.push_back(together.method);
  }
  for (const CollectiveSeries& series : report.collectives) {
    for (const CollectiveFigure& figure : series.by_size) {
      if (!figure.contents_match.has_value() || *figure.contents_match) continue;
      group.places.push_back(series.operation);
      group.evidence.push_back(std::to_string(figure.size_bytes) + " bytes over " + series.backend);
      break;
    }
  }
  return notes_of("what arrived is not what was sent", group,
                  "train nothing on these links; if only peer-to-peer copies are wrong, turn the "
                  "IOMMU to pass-through and ACS off, or set NCCL_P2P_DISABLE=1");
}

Notes peers_ineffective(const LinksReport& report) {
  Group group;
  for (const LinkPair& pair : report.pairs) {
    const Measured<double>& direct = pair.peer_to_peer.write_bytes_per_s;
    const Measured<double>& staged = pair.host_staged.write_bytes_per_s;
    if (!pair.peer_access.has_value() || !*pair.peer_access) continue;
    if (!direct.has_value() || !staged.has_value()) continue;
    if (*direct > kStagedShare * *staged) continue;
    group.places.push_back(name_of(pair));
    group.evidence.push_back(gb_text(*direct) + " direct, " + gb_text(*staged) +
                             " through host memory");
  }
  return notes_of("CUDA offers peer access that is no faster than copies through host memory",
                  group,
                  "look for ACS and an IOMMU that send traffic through the root complex, and for a "
                  "link that is narrower than its slot");
}

Notes peers_blocked(const LinksReport& report) {
  Group group;
  for (const LinkPair& pair : report.pairs) {
    if (!pair.peer_access.has_value() || *pair.peer_access) continue;
    group.places.push_back(name_of(pair));
    group.evidence.push_back("path " + (pair.path.has_value() ? *pair.path : "unknown"));
  }
  return notes_of("these GPUs cannot reach each other's memory", group,
                  "expect copies through host memory between them");
}

Notes access_control(const LinksReport& report) {
  if (!report.acs_bridges.has_value() || report.acs_bridges.value->empty()) return {};
  return {{"PCIe switches send traffic between GPUs up to the root complex",
           "request or completion redirect is on at " + base::join(*report.acs_bridges, ", "),
           "turn ACS off on the bridges above the GPUs where no virtual machine needs it; peer "
           "copies otherwise run at about half speed, or hang"}};
}

void compare(const std::string& place, const std::string& what, const Measured<double>& seen,
             const Measured<double>& wanted, double share, Group& group) {
  if (!seen.has_value() || !wanted.has_value() || *seen >= share * *wanted) return;
  group.places.push_back(place);
  group.evidence.push_back(what + " " + gb_text(*seen) + " of " + gb_text(*wanted));
}

void compare_latency(const LinkPair& pair, const PairFigures& figures, Group& group) {
  const Measured<double>& wanted = pair.expectation.expected_latency_s;
  const Measured<double>& seen = figures.latency_s;
  if (!seen.has_value() || !wanted.has_value() || *seen * kExpectedShare <= *wanted) return;
  group.places.push_back(name_of(pair));
  group.evidence.push_back("latency " + us_text(*seen) + ", expected " + us_text(*wanted));
}

/// What training would use between the two.
const PairFigures& best_of(const LinkPair& pair) {
  return pair.peer_access.has_value() && *pair.peer_access ? pair.peer_to_peer : pair.host_staged;
}

Notes below_expected(const LinksReport& report) {
  Group group;
  for (const LinkPair& pair : report.pairs) {
    const PairFigures& figures = best_of(pair);
    const LinkExpectation& wanted = pair.expectation;
    compare(name_of(pair), "write", figures.write_bytes_per_s, wanted.expected_bytes_per_s,
            kExpectedShare, group);
    compare(name_of(pair), "read", figures.read_bytes_per_s, wanted.expected_bytes_per_s,
            kExpectedShare, group);
    compare(name_of(pair), "both ways", figures.both_bytes_per_s, wanted.expected_both_bytes_per_s,
            kExpectedShare, group);
    compare_latency(pair, figures, group);
  }
  for (const HostCopies& host : report.host) {
    for (const CopySeries& series : host.copies) {
      compare(host.name, series.method, series.bytes_per_s, host.expectation.expected_bytes_per_s,
              kExpectedShare, group);
    }
  }
  for (const HostCopiesTogether& together : report.host_together) {
    compare("uplink " + together.name, together.method, together.bytes_per_s.median,
            together.expected_bytes_per_s, kExpectedShare, group);
  }
  return notes_of("links below what the system file expects", group,
                  "look at the links' width and generation under load, and at what shares them");
}

Notes below_practical(const LinksReport& report) {
  Group group;
  for (const LinkPair& pair : report.pairs) {
    if (!pair.peer_access.has_value() || !*pair.peer_access) continue;
    compare(name_of(pair), "write", pair.peer_to_peer.write_bytes_per_s,
            pair.expectation.practical_bytes_per_s, kPracticalShare, group);
  }
  for (const HostCopies& host : report.host) {
    for (const CopySeries& series : host.copies) {
      compare(host.name, series.method, series.bytes_per_s, host.expectation.practical_bytes_per_s,
              kPracticalShare, group);
    }
  }
  return notes_of("links below what links of their kind are seen at", group,
                  "look for a narrow or slow link (riser, cable, slot), a shared uplink, and "
                  "other programs on the machine");
}

Notes uplink_shared(const LinksReport& report) {
  Notes notes;
  for (const HostCopiesTogether& together : report.host_together) {
    const Measured<double>& share = together.relative_to_alone;
    if (!share.has_value() || *share >= kSharedShare) continue;
    const std::string who = together.name == "all" ? "the GPUs" : "the GPUs on " + together.name;
    notes.push_back({who + " share their way to host memory (" + together.method + ")",
                     gb_text(*together.bytes_per_s.median) + " together, " +
                         gb_text(*together.alone_sum_bytes_per_s) +
                         " if each had what it has alone",
                     "expect input and staged exchange to slow down with the number of GPUs"});
  }
  return notes;
}

bool is_staged(const std::string& transport) {
  return transport.starts_with("SHM") || transport.starts_with("NET");
}

Notes fallback(const LinksReport& report) {
  const bool all_reach = std::all_of(
      report.pairs.begin(), report.pairs.end(),
      [](const LinkPair& pair) { return pair.peer_access.has_value() && *pair.peer_access; });
  for (const CollectiveSeries& series : report.collectives) {
    if (!series.peer_to_peer || !series.transports.has_value() || !all_reach) continue;
    const std::vector<std::string>& kinds = *series.transports;
    if (std::none_of(kinds.begin(), kinds.end(), is_staged)) continue;
    return {{"NCCL went through shared memory or the network between GPUs that reach each other",
             "transports: " + base::join(kinds, ", "),
             "look at the NCCL_ variables of the environment, ACS and the IOMMU"}};
  }
  return {};
}

Notes iommu(const LinksReport& report) {
  Group group;
  for (const LinkDevice& device : report.devices) {
    for (const Gpu& gpu : report.system.gpus) {
      if (gpu.uuid != device.uuid || device.uuid.empty()) continue;
      if (!gpu.iommu.has_value() || !gpu.iommu.value->starts_with("DMA")) continue;
      group.places.push_back(device.name);
      group.evidence.push_back("type of its group: " + *gpu.iommu);
    }
  }
  return notes_of("an IOMMU translates the traffic of these GPUs", group,
                  "boot with iommu=pt (or off) where no virtual machine needs it: peer copies are "
                  "slower through it, or wrong");
}

void add_missing(const std::vector<CopySeries>& all, const std::string& place, bool has_access,
                 std::map<std::string, Group>& groups) {
  for (const CopySeries& series : all) {
    if (series.bytes_per_s.has_value() || (series.peer_to_peer && !has_access)) continue;
    Group& group = groups[series.bytes_per_s.reason];
    group.places.push_back(place + " (" + series.method + (series.both_ways ? ", both ways" : "") +
                           (series.peer_to_peer ? ", peer to peer)" : ")"));
  }
}

Notes not_measured(const LinksReport& report) {
  std::map<std::string, Group> groups;  // by reason
  for (const LinkPair& pair : report.pairs) {
    const bool has_access = pair.peer_access.has_value() && *pair.peer_access;
    add_missing(pair.copies, name_of(pair), has_access, groups);
  }
  for (const HostCopies& host : report.host) add_missing(host.copies, host.name, true, groups);
  for (const CollectiveSeries& series : report.collectives) {
    if (series.bus_bytes_per_s.has_value()) continue;
    groups[series.bus_bytes_per_s.reason].places.push_back(
        series.operation + (series.peer_to_peer ? ", peer to peer" : ""));
  }
  Notes notes;
  for (const auto& [reason, group] : groups) {
    notes.push_back({"could not be measured: " + base::join(group.places, "; "), reason,
                     "a copy that does not end or fails points at ACS, an IOMMU, a cable or a "
                     "GPU that has fallen off the bus: see the kernel's log"});
  }
  return notes;
}

struct Row {
  const char* name;
  const char* severity;
  Notes (*rule)(const LinksReport&);
};
constexpr std::array kRows{
    Row{"link_contents_wrong", "invalid", contents_wrong},
    Row{"link_not_measured", "warning", not_measured},
    Row{"peer_access_ineffective", "warning", peers_ineffective},
    Row{"peer_access_blocked", "warning", peers_blocked},
    Row{"acs_redirects", "warning", access_control},
    Row{"iommu_translates", "warning", iommu},
    Row{"nccl_fallback", "warning", fallback},
    Row{"link_below_expected", "warning", below_expected},
    Row{"link_below_practical", "warning", below_practical},
    Row{"uplink_shared", "warning", uplink_shared},
};

}  // namespace

std::vector<Finding> find_in_links(const LinksReport& report) {
  std::vector<Finding> findings;
  for (const Row& row : kRows) {
    for (Note& note : row.rule(report)) {
      findings.push_back({row.name, row.severity, std::move(note.message), std::move(note.evidence),
                          std::move(note.advice)});
    }
  }
  return findings;
}

}  // namespace falcon::report
