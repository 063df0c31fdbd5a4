#include "analysis/predict/declared.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "plan/places.h"
#include "report/figures.h"

namespace falcon::analysis {
namespace {

// What all_reduce makes of the speed of single links, one way to the other: 0.4 where the paths
// below a switch are shared (H3's own figure of its PCIe switch under load), 0.7 to 0.95 on rings
// without, above 1 where NVLink's switches add up. Meshes with several links a GPU reach more.
constexpr double kDeclaredSpread = 2;
constexpr double kUnknownLatency = 5e-6;  // of a hop, where none is declared
constexpr const char* kAll = "all";

// Of catalog::link_classes(): the pair classes come first, the uplink last.
const std::string& uplink_class() {
  static const std::string name(catalog::link_classes().back().name);
  return name;
}

[[noreturn]] void refuse(const SystemFile& system, const std::string& why) {
  throw Error(ExitCode::kUsage, system.path + ": " + why);
}

std::vector<std::string> names_of(const SystemFile& system, const std::string& topology) {
  if (topology == kAll) return system.ordered_gpus();
  std::vector<std::string> known = system.sets();
  if (std::find(known.begin(), known.end(), topology) == known.end()) {
    known.emplace_back(kAll);
    refuse(system, "there is no set of GPUs \"" + base::printable(topology) + "\"; it has " +
                       base::join_or(known));
  }
  return system.members(topology);
}

/// The first so many of the set, those of one place behind each other: a ring leaves a drawer once.
std::vector<GpuPlace> ring_places(const SystemFile& system, const std::string& topology,
                                  int devices) {
  std::vector<std::string> chosen = names_of(system, topology);
  chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(devices)));
  std::vector<GpuPlace> places;
  for (const std::string& name : system.ordered_gpus()) {
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) continue;
    places.push_back(
        plan::declared_place(name, system.gpus.at(name), "the system file does not say it"));
  }
  return places;
}

/// One way, while the other way is busy too where that is declared.
std::optional<double> rate_of(const SystemLink& link) {
  if (link.both_ways_gb_per_s) return 1e9 * *link.both_ways_gb_per_s / 2;
  if (link.one_way_gb_per_s) return 1e9 * *link.one_way_gb_per_s;
  return std::nullopt;
}

std::optional<double> rate_of(const SystemFile& system, const std::string& link_class) {
  const auto found = system.links.find(link_class);
  return found == system.links.end() ? std::nullopt : rate_of(found->second);
}

std::string text_of(const std::string& link_class, const SystemLink& link) {
  const bool is_both = link.both_ways_gb_per_s.has_value();
  std::string text = link_class + " ";
  text += report::figure(is_both ? *link.both_ways_gb_per_s : *link.one_way_gb_per_s) + " GB/s ";
  text += is_both ? "both ways" : "one way";
  if (link.latency_us) text += " and " + report::figure(*link.latency_us) + " us";
  return text;
}

/// The classes that the hops of the ring have, each once.
std::vector<std::string> hop_classes(const SystemFile& system,
                                     const std::vector<GpuPlace>& places) {
  std::vector<std::string> classes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const GpuPlace& from = places[i];
    const GpuPlace& to = places[(i + 1) % places.size()];
    const Measured<std::string> found = plan::pair_class(from, to);
    if (!found.has_value()) refuse(system, found.reason);
    if (!rate_of(system, *found)) {
      refuse(system, "links: declares no speed of " + *found + ", as between " + from.name +
                         " and " + to.name);
    }
    if (std::find(classes.begin(), classes.end(), *found) == classes.end()) {
      classes.push_back(*found);
    }
  }
  return classes;
}

bool leaves_drawer(const std::string& link_class) {
  const auto facts = catalog::pair_classes();
  return link_class != facts[0].name && link_class != facts[2].name;
}

struct SlowestHop {
  std::string link_class;
  double bytes_per_s = 0;
};

SlowestHop slowest_of(const SystemFile& system, const std::vector<std::string>& classes) {
  SlowestHop slowest;
  const auto meet = [&slowest](const std::string& link_class, double rate) {
    if (slowest.link_class.empty() || rate < slowest.bytes_per_s) slowest = {link_class, rate};
  };
  for (const std::string& link_class : classes) meet(link_class, *rate_of(system, link_class));
  const std::optional<double> uplink = rate_of(system, uplink_class());
  if (uplink && std::any_of(classes.begin(), classes.end(), leaves_drawer))
    meet(uplink_class(), *uplink);
  return slowest;
}

std::string source_of(const SystemFile& system, const std::vector<std::string>& classes,
                      const SlowestHop& slowest, bool has_latency,
                      const std::map<std::string, std::string>& usual) {
  std::vector<std::string> figures;
  for (const std::string& link_class : classes) {
    figures.push_back(text_of(link_class, system.links.at(link_class)));
    const auto elsewhere = usual.find(link_class);
    figures.back() += elsewhere == usual.end() ? " declared by " + system.path
                                               : " as seen elsewhere (" + elsewhere->second + ")";
  }
  if (slowest.link_class == uplink_class())
    figures.push_back(text_of(uplink_class(), system.links.at(uplink_class())) + " declared by " +
                      system.path);
  std::string text = "not measured: " + base::join(figures, ", ");
  if (!has_latency) {
    text += "; latency is not declared, " + report::figure(1e6 * kUnknownLatency) + " us taken";
  }
  return text + "; a ring as fast as its slowest hop, " + slowest.link_class + " at " +
         report::bytes_text(slowest.bytes_per_s) + "/s, band half to twice that";
}

}  // namespace

int devices_in(const SystemFile& system, const std::string& topology) {
  return static_cast<int>(names_of(system, topology).size());
}

Fabric declared_fabric(const SystemFile& system, const std::string& topology, int devices,
                       const std::map<std::string, std::string>& usual) {
  const std::vector<GpuPlace> places = ring_places(system, topology, devices);
  if (places.size() < 2) {
    refuse(system, base::printable(topology) + " has fewer than two GPUs to exchange between");
  }
  const std::vector<std::string> classes = hop_classes(system, places);
  const SlowestHop slowest = slowest_of(system, classes);
  std::optional<double> latency_us;
  for (const std::string& link_class : classes) {
    const SystemLink& link = system.links.at(link_class);
    if (link.latency_us) latency_us = std::max(latency_us.value_or(0), *link.latency_us);
  }
  Fabric fabric =
      ring_fabric(topology, slowest.bytes_per_s, latency_us ? 1e-6 * *latency_us : kUnknownLatency,
                  source_of(system, classes, slowest, latency_us.has_value(), usual));
  const bool has_usual = std::any_of(classes.begin(), classes.end(),
                                     [&usual](const auto& name) { return usual.contains(name); });
  fabric.basis = has_usual ? kLinksUsual : kLinksDeclared;
  for (ReducePoint& point : fabric.points) {
    point.low_s = point.time_s / kDeclaredSpread;
    point.high_s = point.time_s * kDeclaredSpread;
  }
  return fabric;
}

}  // namespace falcon::analysis
