// What a system file that was read says: which GPUs a set has, which link leads to one.
#include <algorithm>
#include <cctype>
#include <tuple>

#include <fnmatch.h>

#include "falconbench/catalog.h"
#include "falconbench/system_file.h"

namespace falcon {
namespace {

std::size_t end_of_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

// gpu2 before gpu10.
bool is_before(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const std::size_t end_a = end_of_digits(a, i);
    const std::size_t end_b = end_of_digits(b, j);
    if (end_a == i || end_b == j) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    std::string_view number_a = a.substr(i, end_a - i);
    std::string_view number_b = b.substr(j, end_b - j);
    number_a.remove_prefix(std::min(number_a.find_first_not_of('0'), number_a.size()));
    number_b.remove_prefix(std::min(number_b.find_first_not_of('0'), number_b.size()));
    if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
    if (number_a != number_b) return number_a < number_b;
    i = end_a;
    j = end_b;
  }
  return a.size() - i < b.size() - j;
}

// As many of one kind as of the other, in turn.
std::vector<std::string> in_turn(const std::vector<std::string>& first,
                                 const std::vector<std::string>& second) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    names.push_back(first[i]);
    names.push_back(second[i]);
  }
  return names;
}

std::vector<std::string> attached(const SystemFile& system, std::string_view attach) {
  std::vector<std::string> names;
  for (const std::string& name : system.ordered_gpus()) {
    if (system.gpus.at(name).attach == attach) names.push_back(name);
  }
  return names;
}

// The paper's sets, where the file marks the GPUs but names no such set.
std::vector<std::string> derived(const SystemFile& system, std::string_view topology) {
  if (topology == kLocalGpus) return attached(system, "local");
  if (topology == kFalconGpus) return attached(system, "falcon");
  if (topology == kHybridGpus)
    return in_turn(attached(system, "local"), attached(system, "falcon"));
  return {};
}

}  // namespace

std::vector<std::string> SystemFile::ordered_gpus() const {
  std::vector<std::string> names;
  for (const auto& [name, gpu] : gpus) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [this](const std::string& a, const std::string& b) {
    const auto key = [](const SystemGpu& gpu) {
      return std::tuple(gpu.attach != "local", gpu.chassis, gpu.drawer.value_or(-1), gpu.host_link,
                        gpu.slot.value_or(-1));
    };
    const auto first = key(gpus.at(a));
    const auto second = key(gpus.at(b));
    return first != second ? first < second : is_before(a, b);
  });
  return names;
}

std::vector<std::string> SystemFile::members(std::string_view topology) const {
  const auto entries = topologies.find(std::string(topology));
  if (entries == topologies.end()) return derived(*this, topology);
  std::vector<std::string> names;
  const std::vector<std::string> all = ordered_gpus();
  for (const std::string& entry : entries->second) {
    for (const std::string& gpu : all) {
      const bool is_new = std::find(names.begin(), names.end(), gpu) == names.end();
      if (is_new && fnmatch(entry.c_str(), gpu.c_str(), 0) == 0) names.push_back(gpu);
    }
  }
  return names;
}

std::vector<std::string> SystemFile::sets() const {
  std::vector<std::string> names;
  for (const auto& [name, entries] : topologies) names.push_back(name);
  for (const char* name : {kLocalGpus, kHybridGpus, kFalconGpus}) {
    if (!topologies.contains(name) && !derived(*this, name).empty()) names.emplace_back(name);
  }
  return names;
}

const SystemDrawer* SystemFile::drawer_of(const SystemGpu& gpu) const {
  const auto found = chassis.find(gpu.chassis);
  if (found == chassis.end() || !gpu.drawer) return nullptr;
  const auto drawer = found->second.drawers.find(std::to_string(*gpu.drawer));
  return drawer == found->second.drawers.end() ? nullptr : &drawer->second;
}

const SystemHostLink* SystemFile::link_of(const SystemGpu& gpu) const {
  const SystemDrawer* drawer = drawer_of(gpu);
  if (drawer == nullptr) return nullptr;
  const auto link = drawer->host_links.find(gpu.host_link);
  return link == drawer->host_links.end() ? nullptr : &link->second;
}

}  // namespace falcon
