#include "plan/placement.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "platform/pci_address.h"

namespace falcon::plan {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw InputError({Fault{"spec", 0, 0, "topology", message}});
}

std::string gpus_text(const Host& host) {
  if (host.gpus.empty()) {
    return "this host has no GPU (" + host.driver.reason + ")";
  }
  std::string text = "this host has";
  for (const Gpu& gpu : host.gpus) {
    text += "\n  " + gpu.pci_address + (gpu.uuid.empty() ? "" : "  " + gpu.uuid) + "  " + gpu.name;
  }
  return text;
}

bool looks_like_address(const std::string& word) {
  return word.rfind("GPU-", 0) == 0 || word.rfind("MIG-", 0) == 0 ||
         std::count(word.begin(), word.end(), ':') == 2;
}

const Gpu* gpu_at(const Host& host, const std::string& address) {
  for (const Gpu& gpu : host.gpus) {
    if (!address.empty() && gpu.pci_address == address) return &gpu;
  }
  return nullptr;
}

const Gpu* find_gpu(const Host& host, const std::string& word) {
  for (const Gpu& gpu : host.gpus) {
    if (!gpu.uuid.empty() && gpu.uuid == word) return &gpu;
  }
  return gpu_at(host, platform::normal_pci_address(word));
}

// By UUID where it is declared and the host tells its own; else by address.
const Gpu* find_declared(const Host& host, const SystemGpu& declared) {
  if (declared.uuid.empty()) return gpu_at(host, declared.pci_address);
  for (const Gpu& gpu : host.gpus) {
    if (gpu.uuid == declared.uuid) return &gpu;
  }
  const Gpu* at = gpu_at(host, declared.pci_address);
  return at != nullptr && at->uuid.empty() ? at : nullptr;
}

const SystemGpu* declaration_of(const Gpu& gpu, const SystemFile& system) {
  for (const auto& [name, declared] : system.gpus) {
    const bool is_uuid = !declared.uuid.empty() && declared.uuid == gpu.uuid;
    if (is_uuid || (!declared.pci_address.empty() && declared.pci_address == gpu.pci_address)) {
      return &declared;
    }
  }
  return nullptr;
}

std::string drawer_text(const SystemGpu& gpu) {
  std::string text = gpu.drawer ? "drawer " + std::to_string(*gpu.drawer) : "";
  if (!gpu.chassis.empty()) text += (text.empty() ? "" : " of ") + gpu.chassis;
  return text;
}

// Names of GPUs with what the system file says of them, for a refusal.
std::string declared_text(const std::string& name, const SystemGpu& gpu) {
  const std::string place = drawer_text(gpu);
  return name + " (" + (gpu.pci_address.empty() ? gpu.uuid : gpu.pci_address) +
         (place.empty() ? "" : ", " + place) + ")";
}

// GPUs that the spec asks for: by words of a list, or as a set of the system file.
class Finder {
 public:
  Finder(const Host& host, const SystemFile& system) : host_(host), system_(system) {}

  std::vector<std::string> words_of(const NameOrList& topology) const;
  /// Throws Error(kHost) for what is missing, all at once, and for what is lent to another host.
  std::vector<const Gpu*> find(const std::string& what,
                               const std::vector<std::string>& words) const;
  const SystemGpu* declaration(const std::string& word, const Gpu& gpu) const {
    const auto entry = system_.gpus.find(word);
    return entry != system_.gpus.end() ? &entry->second : declaration_of(gpu, system_);
  }

 private:
  const Gpu* find_one(const std::string& word) const;
  void check_lent(const std::string& what, const std::vector<std::string>& words) const;
  std::string missing_text(const std::string& what, const std::vector<std::string>& missing,
                           std::size_t of) const;
  [[noreturn]] void refuse_name(const std::string& name) const;

  const Host& host_;
  const SystemFile& system_;
};

const Gpu* Finder::find_one(const std::string& word) const {
  if (!word.empty() &&
      std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); })) {
    refuse("\"" + word +
           "\" is a bare index, which means another GPU after a reboot or under "
           "CUDA_VISIBLE_DEVICES; give a PCI address or a UUID: " +
           gpus_text(host_));
  }
  if (const auto entry = system_.gpus.find(word); entry != system_.gpus.end()) {
    return find_declared(host_, entry->second);
  }
  const Gpu* gpu = find_gpu(host_, word);
  if (gpu != nullptr || looks_like_address(word)) return gpu;
  std::vector<std::string> names;
  for (const auto& [name, declared] : system_.gpus) names.push_back(name);
  const std::string near = base::nearest(word, names);
  refuse("\"" + base::printable(word) +
         "\" is no PCI address, UUID or GPU name of the system file" +
         (near.empty() ? "" : ", did you mean " + near + "?"));
}

void Finder::check_lent(const std::string& what, const std::vector<std::string>& words) const {
  std::vector<std::string> lent;
  for (const std::string& word : words) {
    const auto entry = system_.gpus.find(word);
    if (entry == system_.gpus.end()) continue;
    const SystemHostLink* link = system_.link_of(entry->second);
    if (link == nullptr || link->host.empty() || link->host == host_.hostname) continue;
    lent.push_back(word + " to " + link->host + " (host link " + entry->second.host_link + " of " +
                   drawer_text(entry->second) + ")");
  }
  if (lent.empty()) return;
  throw Error(ExitCode::kHost,
              what + ": lent to another host: " + base::join(lent, ", ") + "; " + gpus_text(host_));
}

std::string Finder::missing_text(const std::string& what, const std::vector<std::string>& missing,
                                 std::size_t of) const {
  std::vector<std::string> names;
  std::set<std::string> drawers;
  std::string swapped;
  for (const std::string& word : missing) {
    const auto entry = system_.gpus.find(word);
    if (entry == system_.gpus.end()) {
      names.push_back(base::printable(word));
      continue;
    }
    names.push_back(declared_text(word, entry->second));
    if (const Gpu* other = gpu_at(host_, entry->second.pci_address)) {
      swapped += "; at the address of " + word + " is " + other->uuid + " instead of " +
                 entry->second.uuid + ": was it swapped?";
    } else if (entry->second.drawer) {
      drawers.insert(drawer_text(entry->second));
    }
  }
  std::string text = what + ": " + std::to_string(missing.size()) + " of " + std::to_string(of) +
                     " GPUs " + (missing.size() == 1 ? "is" : "are") +
                     " not on this host: " + base::join(names, ", ") + swapped;
  for (const auto& [name, gpu] : system_.gpus) {
    if (find_declared(host_, gpu) != nullptr) drawers.erase(drawer_text(gpu));
  }
  if (!drawers.empty()) {
    text += "; no GPU of " +
            base::join(std::vector<std::string>(drawers.begin(), drawers.end()), ", ") +
            " is here: unplugged, powered off or lent?";
  }
  return text + "; " + gpus_text(host_);
}

std::vector<const Gpu*> Finder::find(const std::string& what,
                                     const std::vector<std::string>& words) const {
  std::vector<const Gpu*> gpus;
  std::vector<std::string> missing;
  std::map<const Gpu*, std::string> used;  // -> the word that named it
  for (const std::string& word : words) {
    const Gpu* gpu = find_one(word);
    if (gpu == nullptr) {
      missing.push_back(word);
      continue;
    }
    const auto [before, is_new] = used.try_emplace(gpu, word);
    if (!is_new) {
      refuse("the same GPU twice: " + before->second + " and " + word + " are both " +
             gpu->pci_address);
    }
    gpus.push_back(gpu);
  }
  check_lent(what, words);
  if (!missing.empty()) {
    throw Error(ExitCode::kHost, missing_text(what, missing, words.size()));
  }
  return gpus;
}

void Finder::refuse_name(const std::string& name) const {
  std::vector<std::string> known = {"all", "cpu"};
  for (const std::string& set : system_.sets()) known.push_back(set);
  for (const WordFacts& word : catalog::storages()) {
    if (word.name != name) continue;
    throw Error(ExitCode::kHost, "topology " + name +
                                     ": that is a storage, no set of GPUs; give storage: " + name +
                                     " beside topology: " + kLocalGpus);
  }
  for (const WordFacts& word : catalog::topologies()) {
    if (word.name != name) {
      known.push_back(word.name);
      continue;
    }
    const std::string why =
        system_.path.empty()
            ? "no system file says which GPUs that is (key system); falconbench doctor "
              "--write-system FILE drafts one"
            : system_.path + " has no topology of that name, and its attach marks no GPUs for it";
    throw Error(ExitCode::kHost, "topology " + name + ": " + why + "; " + gpus_text(host_));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const std::string near = base::nearest(name, known);
  refuse("unknown topology \"" + base::printable(name) + "\"" +
         (near.empty() ? "" : ", did you mean " + near + "?") +
         " Known: " + base::join(known, ", "));
}

std::vector<std::string> Finder::words_of(const NameOrList& topology) const {
  if (!topology.items.empty()) return topology.items;
  // one GPU alone is a list of one
  if (looks_like_address(topology.name) || system_.gpus.contains(topology.name)) {
    return {topology.name};
  }
  if (topology.name == "all") {
    std::vector<std::string> addresses;
    for (const Gpu& gpu : host_.gpus) addresses.push_back(gpu.pci_address);
    if (addresses.empty()) throw Error(ExitCode::kHost, "topology all: " + gpus_text(host_));
    return addresses;
  }
  std::vector<std::string> members = system_.members(topology.name);
  if (members.empty()) refuse_name(topology.name);
  return members;
}

Placement place_on_cpu(std::optional<std::int64_t> devices) {
  Placement placement;
  for (std::int64_t i = 0; i < devices.value_or(2); ++i) {
    placement.devices.push_back(DevicePlan{"cpu", "", "", "CPU"});
    placement.names.push_back("cpu");
  }
  return placement;
}

// Those of one place follow each other, places in the order of their first GPU.
void bring_together(std::vector<std::string>& words, const SystemFile& system) {
  using Place = std::tuple<std::string, std::string, std::int64_t, std::string>;
  std::vector<Place> places;
  std::map<std::string, std::size_t> rank_of;  // word -> place
  for (const std::string& word : words) {
    const auto entry = system.gpus.find(word);
    if (entry == system.gpus.end()) return;
    const SystemGpu& gpu = entry->second;
    Place place(gpu.attach, gpu.chassis, gpu.drawer.value_or(-1), gpu.host_link);
    const auto found = std::find(places.begin(), places.end(), place);
    rank_of[word] = static_cast<std::size_t>(found - places.begin());
    if (found == places.end()) places.push_back(std::move(place));
  }
  std::stable_sort(words.begin(), words.end(), [&](const std::string& a, const std::string& b) {
    return rank_of[a] < rank_of[b];
  });
}

}  // namespace

Placement place(const NameOrList& topology, std::optional<std::int64_t> devices, const Host& host,
                const SystemFile& system) {
  if (topology.name == "cpu") return place_on_cpu(devices);
  const Finder finder(host, system);
  const std::string what = "topology " + (topology.name.empty() ? "list" : topology.name);
  std::vector<std::string> words = finder.words_of(topology);
  const auto wanted =
      static_cast<std::size_t>(devices.value_or(static_cast<std::int64_t>(words.size())));
  if (wanted > words.size()) {
    throw Error(ExitCode::kHost, "devices: " + std::to_string(wanted) + " asked for, but the " +
                                     what + " has " + std::to_string(words.size()) + "; " +
                                     gpus_text(host));
  }
  if (topology.items.empty()) {
    words.resize(wanted);
    bring_together(words, system);
  }
  Placement placement;
  placement.gpus = finder.find(what, words);
  placement.gpus.resize(wanted);
  words.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    const Gpu& gpu = *placement.gpus[i];
    placement.devices.push_back(DevicePlan{"cuda", gpu.uuid, gpu.pci_address, gpu.name});
    placement.declared.push_back(finder.declaration(words[i], gpu));
  }
  placement.names = std::move(words);
  return placement;
}

}  // namespace falcon::plan
