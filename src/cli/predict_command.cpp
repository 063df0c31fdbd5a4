// falconbench predict: a measured run on other links and with other numbers of GPUs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "analysis/links_table.h"
#include "analysis/predict/declared.h"
#include "analysis/predict/predict.h"
#include "analysis/read_report.h"
#include "base/codec.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/predict_host.h"
#include "cli/word_options.h"
#include "report/figures.h"

namespace falcon::cli {
namespace {

using analysis::Prediction;
using report::figure;

constexpr int kMost = 1 << 20;            // GPUs
constexpr double kNetworkLatencyUs = 10;  // where none is given

std::string text_of(const Prediction& p) {
  std::string text = p.model + " on " + std::to_string(p.devices) + " x " + p.fabric + "\n";
  text += "  links        " + p.fabric_source + "\n";
  text += "  step         " + figure(p.step_ms) + " ms, band " + figure(p.step_low_ms) + " to " +
          figure(p.step_high_ms) + " ms\n";
  text += "  throughput   " + figure(p.samples_per_s) + " samples/s\n";
  text += "  time ratio   " + figure(p.time_ratio) + " of the measured run (" +
          figure(p.measured_step_ms) + " ms a step)\n";
  text += "  exchange     " + figure(p.communication_ms) + " ms, of which " + figure(p.exposed_ms) +
          " ms exposed\n";
  text += "  bottleneck   " + p.bottleneck + "\n";
  for (const std::string& assumption : p.assumptions) text += "  assumed      " + assumption + "\n";
  return text;
}

std::string one(const WordOptions& given, const char* name) {
  if (!given.has(name))
    throw Error(ExitCode::kUsage, std::string("predict: ") + name + " is needed");
  return given.value(name);
}

std::optional<LinksReport> links_of(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return analysis::read_links(path);
}

/// The links that the run used, where a document tells them.
std::optional<analysis::Fabric> own_fabric(const Report& report, const WordOptions& given) {
  const std::optional<LinksReport> links =
      links_of(given.value("--measured-links", given.value("--links")));
  if (!links) return std::nullopt;
  const std::string topology =
      given.value("--measured-on", report.topology.emulated ? "host_staged" : "all");
  return analysis::fabric_of(*links, topology);
}

analysis::Fabric given_ring(const WordOptions& given) {
  const double bus = 1e9 * given.number("--bus-bandwidth", 0, 1e-3, 1e5);
  const double latency = 1e-6 * given.number("--latency-us", 5, 0, 1e6);
  analysis::Fabric ring =
      analysis::ring_fabric(given.value("--topology", "ring"), bus, latency,
                            "a ring of " + report::bytes_text(bus) + "/s, as given");
  ring.basis = analysis::kLinksGiven;
  return ring;
}

/// GPUS:GB/s[:MICROSECONDS]
analysis::Level level_of(const std::string& word) {
  std::vector<double> numbers;
  for (const std::string& part : base::split(word, ':')) {
    numbers.push_back(number_of(part).value_or(0));
  }
  const bool is_well = (numbers.size() == 2 || numbers.size() == 3) &&
                       std::all_of(numbers.begin(), numbers.end(), [](double n) { return n > 0; });
  if (!is_well || numbers[0] > kMost || numbers[0] != std::floor(numbers[0])) {
    throw Error(ExitCode::kUsage,
                "predict: --level needs GPUS:GB/s or GPUS:GB/s:MICROSECONDS, all above 0, got \"" +
                    base::printable(word) + "\"");
  }
  const double latency_us = numbers.size() == 3 ? numbers[2] : kNetworkLatencyUs;
  return {static_cast<int>(numbers[0]), 1e9 * numbers[1], 1e-6 * latency_us};
}

/// From the hosts up.
std::vector<analysis::Level> levels_of(const WordOptions& given, int per_host) {
  if (!given.has("--network")) {
    if (!given.has("--level")) return {};
    throw Error(ExitCode::kUsage, "predict: --level joins groups of hosts: --network is needed");
  }
  std::vector<analysis::Level> levels = {
      {per_host, 1e9 * given.number("--network", 0, 1e-3, 1e5),
       1e-6 * given.number("--network-latency-us", kNetworkLatencyUs, 0, 1e6)}};
  for (const std::string& word : given.values("--level")) {
    const int below = levels.back().devices;
    levels.push_back(level_of(word));
    if (levels.back().devices % below == 0 && levels.back().devices > below) continue;
    throw Error(ExitCode::kUsage, "predict: --level " + base::printable(word) +
                                      ": its groups must hold several of the groups of " +
                                      std::to_string(below) + " below them");
  }
  return levels;
}

/// Sets fabric, devices and how many of them one host has.
int find_links(const WordOptions& given, const Report& report, analysis::Target& target) {
  int in_set = kMost;
  std::optional<PlannedMachine> machine;
  if (given.has("--bus-bandwidth")) {
    target.fabric = given_ring(given);
  } else if (given.has("--system") || given.has("--host")) {
    machine =
        planned_machine(given.value("--system"), given.value("--host"), one(given, "--topology"));
    in_set = analysis::devices_in(machine->system, given.value("--topology"));
  } else if (const auto links = links_of(given.value("--links")); links) {
    in_set = analysis::devices_in(*links, one(given, "--topology"));
    target.fabric = analysis::fabric_of(*links, given.value("--topology"));
  } else {
    throw Error(ExitCode::kUsage,
                "predict: give --links FILE, --system FILE or --host DIR with --topology, or "
                "--bus-bandwidth");
  }
  // by default as many as were measured, at least two, if there are as many
  const double measured = static_cast<double>(report.ranks.size());
  target.devices = static_cast<int>(
      given.number("--devices", std::min<double>(std::max(measured, 2.0), in_set), 1, kMost));
  const int per_host = static_cast<int>(given.number("--per-host", in_set, 1, kMost));
  if (machine) {
    const int inside = std::max(2, std::min(target.devices, per_host));
    target.fabric = analysis::declared_fabric(machine->system, given.value("--topology"), inside,
                                              machine->usual_links);
  }
  return per_host;
}

analysis::Target target_of(const WordOptions& given, const Report& report) {
  analysis::Target target;
  const int per_host = find_links(given, report, target);
  target.levels = levels_of(given, per_host);
  target.compute_scale = given.number("--compute-scale", 1, 1e-3, 1e3);
  if (target.levels.empty() && target.devices > per_host) {
    throw Error(ExitCode::kUsage, "predict: " + std::to_string(target.devices) +
                                      " devices are more than the " + std::to_string(per_host) +
                                      " of one host: --network GB/s says what joins hosts");
  }
  return target;
}

}  // namespace

ExitCode predict_command(const Words& words) {
  if (asks_for_help(words)) {
    std::fputs(kPredictHelp, stdout);
    return ExitCode::kOk;
  }
  const WordOptions given("predict", words,
                          {{"--report", "a report"},
                           {"--links", "a file of falconbench links --json"},
                           {"--system", "a system file"},
                           {"--host", "a file or folder about a machine"},
                           {"--topology", "a name"},
                           {"--measured-on", "a name"},
                           {"--measured-links", "a file of falconbench links --json"},
                           {"--devices", "a number"},
                           {"--per-host", "a number"},
                           {"--network", "GB/s"},
                           {"--network-latency-us", "microseconds"},
                           {"--level", "GPUS:GB/s"},
                           {"--bus-bandwidth", "GB/s"},
                           {"--latency-us", "microseconds"},
                           {"--compute-scale", "a factor"},
                           {"--json"}});
  if (!given.plain().empty()) {
    throw Error(ExitCode::kUsage, "predict: unexpected word \"" +
                                      base::printable(given.plain().front()) +
                                      "\"; the report is given with --report");
  }
  const Report report = analysis::read_report(one(given, "--report"));
  const analysis::Target target = target_of(given, report);
  const Prediction prediction =
      analysis::predict(analysis::step_model(report), own_fabric(report, given), target);
  const std::string text = given.has("--json") ? base::to_json(base::to_value(prediction), 2) + "\n"
                                               : text_of(prediction);
  std::fputs(text.c_str(), stdout);
  return ExitCode::kOk;
}

}  // namespace falcon::cli
