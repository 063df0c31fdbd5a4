#include "platform/dump/read_host_texts.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "platform/dump/lines.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Rows "  0 140.75  22.23 ..." below a heading: values of pairs of different GPUs.
std::vector<double> pairs_below(const std::vector<std::string>& lines, std::string_view heading,
                                std::string_view columns) {
  std::vector<double> values;
  auto line = std::find_if(lines.begin(), lines.end(),
                           [&](const std::string& one) { return one.starts_with(heading); });
  if (line == lines.end()) return values;
  for (++line; line != lines.end(); ++line) {
    const std::vector<std::string> words = words_of(*line);
    if (words.empty()) break;
    if (words.front() == columns) continue;
    const auto row = leading_number(words.front());
    if (!row) break;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto value = leading_real(words[i]);
      if (value && static_cast<int>(i) - 1 != *row) values.push_back(*value);
    }
  }
  return values;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<std::pair<double, double>> range(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return std::pair(*least, *most);
}

}  // namespace

bool begins_numactl(std::string_view line) {
  return line.starts_with("available: ") && has(line, " nodes (");
}

std::vector<NumactlNode> read_numactl(std::string_view text) {
  std::vector<NumactlNode> nodes;
  for (const std::string& line : clean_lines(text)) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 3 || words[0] != "node") continue;
    const auto id = leading_number(words[1]);
    if (!id) continue;
    if (words[2] == "cpus:") {
      NumactlNode node;
      node.id = *id;
      for (std::size_t i = 3; i < words.size(); ++i) {
        node.cpus.push_back(leading_number(words[i]).value_or(0));
      }
      std::sort(node.cpus.begin(), node.cpus.end());
      nodes.push_back(std::move(node));
    } else if (words[2] == "size:" && words.size() > 3 && !nodes.empty() &&
               nodes.back().id == *id) {
      if (const auto size = leading_number(words[3])) {
        nodes.back().memory_bytes = std::int64_t{*size} << 20;
      }
    }
  }
  return nodes;
}

bool begins_lscpu(std::string_view line) {
  return line.starts_with("Architecture:") || line.starts_with("On-line CPU(s) list:");
}

CpuListing read_lscpu(std::string_view text) {
  CpuListing listing;
  for (const std::string& line : clean_lines(text)) {
    const auto pair = key_and_value(line);
    if (!pair) continue;
    const auto& [key, value] = *pair;
    if (key == "Architecture") listing.architecture = value;
    if (key == "Hypervisor vendor") listing.hypervisor = value;
    if (!key.starts_with("NUMA node") || !key.ends_with(" CPU(s)")) continue;
    if (const auto id = leading_number(std::string_view(key).substr(9))) {
      listing.nodes.emplace_back(*id, value);
    }
  }
  return listing;
}

bool begins_driver_files(std::string_view line) {
  if (line.starts_with("NVRM version:") || line.starts_with("Bus Location:")) return true;
  const auto pair = key_and_value(line);
  if (!pair || pair->first != "Model" || indentation(line) > 0) return false;
  for (const char* name : {"NVIDIA", "GeForce", "Tesla", "Quadro"}) {
    if (pair->second.starts_with(name)) return true;
  }
  return false;  // lscpu has the number of a model there
}

DriverFiles read_driver_files(std::string_view text) {
  DriverFiles files;
  std::string model;
  for (const std::string& line : clean_lines(text)) {
    const auto pair = key_and_value(line);
    if (!pair) continue;
    if (pair->first == "Model") model = pair->second;
    if (pair->first == "Bus Location" && !normal_pci_address(pair->second).empty()) {
      files.gpus.emplace_back(pair->second, model);
    }
    if (pair->first != "NVRM version") continue;
    for (const std::string& word : words_of(pair->second)) {
      const bool is_number = word.find_first_not_of("0123456789.") == std::string::npos;
      if (is_number && has(word, ".") && files.driver.empty()) files.driver = word;
    }
  }
  return files;
}

bool begins_dmon(std::string_view line) {
  return line.starts_with("# gpu ") || line.starts_with("#gpu ");
}

std::vector<int> read_dmon(std::string_view text) {
  std::set<int> gpus;
  for (const std::string& line : clean_lines(text)) {
    if (line.starts_with("#")) continue;
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    if (const auto index = leading_number(words.front())) gpus.insert(*index);
  }
  return {gpus.begin(), gpus.end()};
}

bool begins_peer_test(std::string_view line) {
  return has(line, "P2P (Peer-to-Peer) GPU Bandwidth");
}

PeerTest read_peer_test(std::string_view text) {
  const std::vector<std::string> lines = clean_lines(text);
  PeerTest test;
  for (const std::string& line : lines) {
    if (line.starts_with("Device: ")) {
      const std::vector<std::string> parts = base::split(line, ',');
      if (parts.size() > 1) {
        test.gpus.emplace_back(leading_number(parts[0].substr(8)).value_or(0),
                               base::trim(parts[1]));
      }
    }
    if (has(line, " CAN Access Peer ")) ++test.can_access;
  }
  const int count = static_cast<int>(test.gpus.size());
  test.pairs = count * (count - 1);
  test.one_way_off = median(pairs_below(lines, "Unidirectional P2P=Disabled Bandwidth", "D\\D"));
  test.one_way_on = median(pairs_below(lines, "Unidirectional P2P=Enabled Bandwidth", "D\\D"));
  test.both_ways_off = median(pairs_below(lines, "Bidirectional P2P=Disabled Bandwidth", "D\\D"));
  test.both_ways_on = median(pairs_below(lines, "Bidirectional P2P=Enabled Bandwidth", "D\\D"));
  test.latency_off_us = range(pairs_below(lines, "P2P=Disabled Latency", "GPU"));
  test.latency_on_us = range(pairs_below(lines, "P2P=Enabled Latency", "GPU"));
  return test;
}

}  // namespace falcon::platform
