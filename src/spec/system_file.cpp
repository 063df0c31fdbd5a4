#include "spec/system_file.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include <fnmatch.h>

#include "base/codec.h"
#include "base/text.h"
#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "spec/yaml.h"

namespace falcon::spec {
namespace {

class Rules {
 public:
  Rules(SystemFile& system, const base::Value& tree, std::vector<Fault>& faults)
      : system_(system), tree_(tree), faults_(faults) {}

  void check() {
    for (auto& [name, gpu] : system_.gpus) check_gpu(name, gpu);
    for (const auto& [name, storage] : system_.storage) check_storage(name, storage);
    for (const auto& [name, entries] : system_.topologies) check_topology(name, entries);
  }

 private:
  // Names may hold dots, so each level is looked up by itself.
  void fault(const std::string& group, const std::string& name, const std::string& below,
             const std::string& message) {
    const base::Value* entry = tree_.find(group)->find(name);
    const base::Value* value = below.empty() ? entry : entry->find(below);
    const base::Mark& mark = value == nullptr ? entry->mark : value->mark;
    const std::string key = group + "." + name + (below.empty() ? "" : "." + below);
    faults_.push_back({mark.source, mark.line, mark.column, key, message});
  }

  void check_gpu(const std::string& name, SystemGpu& gpu);
  void check_storage(const std::string& name, const SystemStorage& storage);
  void check_topology(const std::string& name, const std::vector<std::string>& entries);
  void check_unique(const std::string& name, const std::string& field, const std::string& address) {
    const auto [before, is_new] = addresses_.try_emplace(address, name);
    if (!is_new) fault("gpus", name, field, address + " is also gpus." + before->second);
  }

  SystemFile& system_;
  const base::Value& tree_;
  std::vector<Fault>& faults_;
  std::map<std::string, std::string> addresses_;  // address -> name
};

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

void Rules::check_gpu(const std::string& name, SystemGpu& gpu) {
  if (gpu.pci_address.empty() && gpu.uuid.empty()) {
    fault("gpus", name, "", "expects pci_address or uuid");
  }
  if (!gpu.pci_address.empty()) {
    if (const std::string address = normal_address(gpu.pci_address); address.empty()) {
      fault("gpus", name, "pci_address",
            "expected a PCI address such as 0000:18:00.0, got \"" +
                base::printable(gpu.pci_address) + "\"");
    } else {
      gpu.pci_address = address;
      check_unique(name, "pci_address", address);
    }
  }
  if (!gpu.uuid.empty()) {
    if (!gpu.uuid.starts_with("GPU-")) {
      fault("gpus", name, "uuid", "expected GPU-..., got \"" + base::printable(gpu.uuid) + "\"");
    }
    check_unique(name, "uuid", gpu.uuid);
  }
  const bool has_place = !gpu.chassis.empty() || gpu.drawer;
  if (gpu.attach == "local" && has_place) {
    fault("gpus", name, gpu.chassis.empty() ? "drawer" : "chassis",
          "is for a GPU with attach: falcon, but gpus." + name + ".attach is local");
  }
}

void Rules::check_storage(const std::string& name, const SystemStorage& storage) {
  if (storage.mount.empty() || storage.mount.starts_with('/')) return;
  fault("storage", name, "mount",
        "expected an absolute path, got \"" + base::printable(storage.mount) + "\"");
}

void Rules::check_topology(const std::string& name, const std::vector<std::string>& entries) {
  if (name == "all" || name == "cpu") {
    fault("topologies", name, "", "the name " + name + " is taken: it has a meaning of its own");
  }
  if (entries.empty()) fault("topologies", name, "", "expects at least one GPU name");
  std::vector<std::string> known;
  for (const auto& [gpu, facts] : system_.gpus) known.push_back(gpu);
  for (const std::string& entry : entries) {
    const bool found = std::any_of(known.begin(), known.end(), [&](const std::string& gpu) {
      return fnmatch(entry.c_str(), gpu.c_str(), 0) == 0;
    });
    if (found) continue;
    const std::string near = base::nearest(entry, known);
    fault("topologies", name, "",
          "\"" + base::printable(entry) + "\" matches no GPU of this file" +
              (near.empty() ? "; there are " + base::join(known, ", ")
                            : ", did you mean " + near + "?"));
  }
}

}  // namespace

SystemFile load_system_file(const std::string& path) {
  const base::Value tree = parse_map_file(path);
  SystemFile system;
  std::vector<Fault> faults;
  base::Reader(catalog::words, faults).read(tree, "", system);
  if (faults.empty()) Rules(system, tree, faults).check();
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

namespace falcon {

std::vector<std::string> SystemFile::members(std::string_view topology) const {
  std::vector<std::string> names;
  const auto entries = topologies.find(std::string(topology));
  if (entries == topologies.end()) return names;
  for (const std::string& entry : entries->second) {
    for (const auto& [gpu, facts] : gpus) {
      const bool is_new = std::find(names.begin(), names.end(), gpu) == names.end();
      if (is_new && fnmatch(entry.c_str(), gpu.c_str(), 0) == 0) names.push_back(gpu);
    }
  }
  return names;
}

}  // namespace falcon
