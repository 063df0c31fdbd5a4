#include "spec/system_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

#include <fnmatch.h>

#include "base/codec.h"
#include "base/text.h"
#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "spec/yaml.h"

namespace falcon::spec {
namespace {

namespace fs = std::filesystem;
using Path = std::vector<std::string>;  // names from the top of the file down; they may hold dots

class Rules {
 public:
  /// folder: of the file, which paths in it are relative to.
  Rules(SystemFile& system, const base::Value& tree, fs::path folder, std::vector<Fault>& faults)
      : system_(system), tree_(tree), folder_(std::move(folder)), faults_(faults) {}

  void check() {
    for (auto& [name, chassis] : system_.chassis) check_chassis(name, chassis);
    for (auto& [name, gpu] : system_.gpus) check_gpu(name, gpu);
    for (const auto& [name, storage] : system_.storage) check_storage(name, storage);
    for (const auto& [name, entries] : system_.topologies) check_topology(name, entries);
    for (const auto& [name, link] : system_.links) check_link(name, link);
  }

 private:
  void fault(const Path& path, const std::string& message);
  void check_chassis(const std::string& name, SystemChassis& chassis);
  void check_drawer(const Path& path, const SystemDrawer& drawer);
  void check_management(const std::string& name, SystemChassis& chassis);
  void check_ports(const Path& path, const SystemDrawer& drawer, bool is_managed);
  void check_gpu(const std::string& name, SystemGpu& gpu);
  void check_names(const std::string& name, SystemGpu& gpu);
  void check_place(const Path& path, const std::string& chassis,
                   const std::optional<std::int64_t>& drawer, const std::string& attach);
  void check_assignment(const std::string& name, SystemGpu& gpu);
  void check_storage(const std::string& name, const SystemStorage& storage);
  void check_topology(const std::string& name, const std::vector<std::string>& entries);
  void check_link(const std::string& name, const SystemLink& link);
  std::string checked_address(const Path& path, const std::string& address);
  void check_unique(const Path& path, const std::string& what);

  SystemFile& system_;
  const base::Value& tree_;
  const fs::path folder_;
  std::vector<Fault>& faults_;
  std::map<std::string, std::string> owners_;  // address, UUID or slot -> key that has it
};

std::string dotted(const Path& path) {
  return base::join(path, ".");
}

// At the value, or at the nearest one above it that is written.
void Rules::fault(const Path& path, const std::string& message) {
  const base::Value* value = &tree_;
  for (const std::string& name : path) {
    const base::Value* below = value->find(name);
    if (below == nullptr) break;
    value = below;
  }
  faults_.push_back(
      {value->mark.source, value->mark.line, value->mark.column, dotted(path), message});
}

void Rules::check_unique(const Path& path, const std::string& what) {
  const Path owner(path.begin(), path.end() - 1);
  const auto [before, is_new] = owners_.try_emplace(what, dotted(owner));
  if (!is_new) fault(path, what + " is also " + before->second);
}

// dddd:bb:dd.f in lower case, from that, from bb:dd.f and from NVML's 8-digit domain; "" for
// anything else.
std::string normal_address(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static const std::regex pattern("(?:(?:0000)?([0-9a-f]{4}):)?([0-9a-f]{2}:[01][0-9a-f]\\.[0-7])");
  std::smatch match;
  if (!std::regex_match(text, match, pattern)) return {};
  return (match[1].matched ? match[1].str() : "0000") + ":" + match[2].str();
}

std::string Rules::checked_address(const Path& path, const std::string& address) {
  if (address.empty()) return address;
  std::string normal = normal_address(address);
  if (normal.empty()) {
    fault(path,
          "expected a PCI address such as 0000:18:00.0, got \"" + base::printable(address) + "\"");
    return address;
  }
  check_unique(path, normal);
  return normal;
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

template <class Map>
std::vector<std::string> names_of(const Map& map) {
  std::vector<std::string> names;
  names.reserve(map.size());
  for (const auto& [name, entry] : map) names.push_back(name);
  return names;
}

std::string hint(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = base::nearest(word, known);
  return near.empty() ? "; there are " + base::join(known, ", ") : ", did you mean " + near + "?";
}

void Rules::check_drawer(const Path& path, const SystemDrawer& drawer) {
  std::set<std::string> hosts;
  for (const auto& [name, link] : drawer.host_links) hosts.insert(link.host);
  const std::size_t links = drawer.host_links.size();
  const auto wrong = [&](const std::string& expected) {
    Path at = path;
    at.emplace_back(links == 0 ? "mode" : "host_links");
    fault(at, "mode " + drawer.mode + " has " + expected + ", got " + std::to_string(links) +
                  (links == 1 ? " link to " : " links to ") + std::to_string(hosts.size()) +
                  (hosts.size() == 1 ? " host" : " hosts"));
  };
  if (drawer.mode == "one_host" && links > 1) wrong("one host link");
  if (drawer.mode == "two_hosts" && (links != 2 || hosts.size() != 2)) {
    wrong("two host links, to different hosts");
  }
  if (drawer.mode == "two_links" && (links != 2 || hosts.size() != 1)) {
    wrong("two host links, to one host");
  }
  if (drawer.mode == "advanced" && (links == 0 || hosts.size() > 3)) {
    wrong("host links to at most three hosts");
  }
}

// What is wrong with the address of a management, or "". Never the address itself, which could hold
// a secret.
std::string fault_of(const SystemRedfish& redfish) {
  const std::string& url = redfish.url;
  const bool is_plain = url.starts_with("http://");
  if (!is_plain && !url.starts_with("https://")) return "must begin with https:// (or http://)";
  const std::size_t host = url.find("://") + 3;
  const std::string authority = url.substr(host, url.find('/', host) - host);
  if (authority.empty()) return "names no host";
  if (authority.find('@') != std::string::npos) {
    return "holds a user or password; accepted: credentials beside it, or the environment";
  }
  if (is_plain && !redfish.credentials.empty()) {
    return "is http, over which credentials could be read by others; accepted with them: https";
  }
  return "";
}

void Rules::check_management(const std::string& name, SystemChassis& chassis) {
  if (!chassis.redfish) return;
  SystemRedfish& redfish = *chassis.redfish;
  const Path path = {"chassis", name, "redfish"};
  if (const std::string wrong = fault_of(redfish); !wrong.empty()) {
    fault({path[0], path[1], path[2], "url"}, wrong);
  }
  for (std::string* file : {&redfish.ca_file, &redfish.credentials}) {
    if (!file->empty()) *file = fs::absolute(folder_ / *file).lexically_normal().string();
  }
}

// What a drawer and its cables are called there.
void Rules::check_ports(const Path& path, const SystemDrawer& drawer, bool is_managed) {
  const Path chassis(path.begin(), path.begin() + 2);
  const auto below = [](Path at, std::initializer_list<std::string> names) {
    at.insert(at.end(), names);
    return at;
  };
  if (!drawer.switch_name.empty()) {
    if (!is_managed) {
      fault(below(path, {"switch"}),
            "has no effect without " + dotted(below(chassis, {"redfish"})));
    }
    check_unique(below(path, {"switch"}), "switch " + drawer.switch_name + " of " + chassis[1]);
  }
  for (const auto& [name, link] : drawer.host_links) {
    if (link.port.empty()) continue;
    const Path at = below(path, {"host_links", name, "port"});
    if (drawer.switch_name.empty()) {
      fault(at, "has no effect without " + dotted(below(path, {"switch"})));
    }
    check_unique(at, "port " + link.port + " of " + dotted(path));
  }
}

void Rules::check_chassis(const std::string& name, SystemChassis& chassis) {
  check_management(name, chassis);
  for (auto& [number, drawer] : chassis.drawers) {
    const Path path = {"chassis", name, "drawers", number};
    if (!is_number(number)) fault(path, "expected the number of a drawer as its key");
    check_drawer(path, drawer);
    check_ports(path, drawer, chassis.redfish.has_value());
    for (auto& [link_name, link] : drawer.host_links) {
      Path at = path;
      at.insert(at.end(), {"host_links", link_name, "root_port"});
      link.root_port = checked_address(at, link.root_port);
    }
  }
}

// Chassis and drawer of a GPU or of a storage; path: of that.
void Rules::check_place(const Path& path, const std::string& chassis,
                        const std::optional<std::int64_t>& drawer, const std::string& attach) {
  const auto below = [&path](const char* field) {
    Path at = path;
    at.emplace_back(field);
    return at;
  };
  if (attach == "local") {
    if (chassis.empty() && !drawer) return;
    fault(below(chassis.empty() ? "drawer" : "chassis"),
          "is for attach: falcon, but " + dotted(below("attach")) + " is local");
    return;
  }
  if (system_.chassis.empty() || chassis.empty()) return;
  const auto found = system_.chassis.find(chassis);
  if (found == system_.chassis.end()) {
    fault(below("chassis"), "\"" + base::printable(chassis) + "\" is no chassis of this file" +
                                hint(chassis, names_of(system_.chassis)));
    return;
  }
  const auto& drawers = found->second.drawers;
  if (!drawer || drawers.empty() || drawers.contains(std::to_string(*drawer))) return;
  fault(below("drawer"),
        chassis + " has the drawers " + base::join(names_of(drawers), ", ") + " in this file");
}

void Rules::check_names(const std::string& name, SystemGpu& gpu) {
  if (is_number(name)) {
    fault({"gpus", name}, "a bare index is no name: in a list of GPUs it would be refused");
  }
  if (gpu.pci_address.empty() && gpu.uuid.empty()) {
    fault({"gpus", name}, "expects pci_address or uuid");
  }
  gpu.pci_address = checked_address({"gpus", name, "pci_address"}, gpu.pci_address);
  if (gpu.uuid.empty()) return;
  if (!gpu.uuid.starts_with("GPU-")) {
    fault({"gpus", name, "uuid"}, "expected GPU-..., got \"" + base::printable(gpu.uuid) + "\"");
  }
  check_unique({"gpus", name, "uuid"}, gpu.uuid);
}

// Which of the links of its drawer a GPU is on.
void Rules::check_assignment(const std::string& name, SystemGpu& gpu) {
  const Path at = {"gpus", name, "host_link"};
  const SystemDrawer* drawer = system_.drawer_of(gpu);
  const std::vector<std::string> links =
      drawer == nullptr ? std::vector<std::string>() : names_of(drawer->host_links);
  if (gpu.host_link.empty()) {
    if (links.size() == 1) gpu.host_link = links.front();
    if (links.size() < 2) return;
    fault(at, "is required: drawer " + std::to_string(*gpu.drawer) + " of " + gpu.chassis +
                  " has the host links " + base::join(links, ", "));
  } else if (links.empty()) {
    fault(at, "is for a GPU in a drawer whose host_links this file names");
  } else if (!drawer->host_links.contains(gpu.host_link)) {
    fault(at, "\"" + base::printable(gpu.host_link) + "\" is no host link of drawer " +
                  std::to_string(*gpu.drawer) + " of " + gpu.chassis + hint(gpu.host_link, links));
  }
}

void Rules::check_gpu(const std::string& name, SystemGpu& gpu) {
  check_names(name, gpu);
  const Path path = {"gpus", name};
  const std::size_t before = faults_.size();
  check_place(path, gpu.chassis, gpu.drawer, gpu.attach);
  if (gpu.emulated && gpu.attach == "local") {
    fault({"gpus", name, "emulated"},
          "it would play a GPU of a chassis, but " + dotted(path) + ".attach is local");
  }
  if (faults_.size() > before) return;
  check_assignment(name, gpu);
  if (gpu.attach != "falcon" || !gpu.drawer || !gpu.slot) return;
  check_unique({"gpus", name, "slot"}, "slot " + std::to_string(*gpu.slot) + " of drawer " +
                                           std::to_string(*gpu.drawer) +
                                           (gpu.chassis.empty() ? "" : " of " + gpu.chassis));
}

void Rules::check_storage(const std::string& name, const SystemStorage& storage) {
  if (!storage.mount.empty() && !storage.mount.starts_with('/')) {
    fault({"storage", name, "mount"},
          "expected an absolute path, got \"" + base::printable(storage.mount) + "\"");
  }
  if (!storage.device.empty() && !storage.device.starts_with("/dev/")) {
    fault({"storage", name, "device"},
          "expected a path below /dev, got \"" + base::printable(storage.device) + "\"");
  }
  check_place({"storage", name}, storage.chassis, storage.drawer, storage.attach);
}

void Rules::check_topology(const std::string& name, const std::vector<std::string>& entries) {
  const Path path = {"topologies", name};
  if (name == "all" || name == "cpu") {
    fault(path, "the name " + name + " is taken: it has a meaning of its own");
  }
  if (system_.gpus.contains(name)) fault(path, "the name " + name + " is that of a GPU");
  if (entries.empty()) fault(path, "expects at least one GPU name");
  const std::vector<std::string> known = names_of(system_.gpus);
  for (const std::string& entry : entries) {
    const bool found = std::any_of(known.begin(), known.end(), [&](const std::string& gpu) {
      return fnmatch(entry.c_str(), gpu.c_str(), 0) == 0;
    });
    if (found) continue;
    fault(path,
          "\"" + base::printable(entry) + "\" matches no GPU of this file" + hint(entry, known));
  }
}

void Rules::check_link(const std::string& name, const SystemLink& link) {
  const std::vector<std::string> known = catalog::words("link_classes");
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    fault({"links", name}, "unknown class of links" + hint(name, known));
  } else if (!link.one_way_gb_per_s && !link.both_ways_gb_per_s && !link.latency_us) {
    fault({"links", name}, "expects one_way_gb_per_s, both_ways_gb_per_s or latency_us");
  }
}

}  // namespace

SystemFile load_system_file(const std::string& path) {
  const base::Value tree = parse_map_file(path);
  SystemFile system;
  std::vector<Fault> faults;
  base::Reader(catalog::words, faults).read(tree, "", system);
  if (faults.empty()) Rules(system, tree, fs::path(path).parent_path(), faults).check();
  if (!faults.empty()) {
    std::stable_sort(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    throw InputError(std::move(faults));
  }
  system.path = path;
  return system;
}

}  // namespace falcon::spec
