// falconbench predict: a measured run on other links and with other numbers of GPUs.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "analysis/links_table.h"
#include "analysis/predict/predict.h"
#include "analysis/read_report.h"
#include "base/codec.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/word_options.h"
#include "report/figures.h"

namespace falcon::cli {
namespace {

using analysis::Prediction;
using report::figure;

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

/// The table that the run's own links and those it is predicted for are looked up in.
std::optional<LinksReport> links_of(const WordOptions& given) {
  if (!given.has("--links")) return std::nullopt;
  return analysis::read_links(given.value("--links"));
}

std::optional<analysis::Fabric> own_fabric(const std::optional<LinksReport>& links,
                                           const Report& report, const WordOptions& given) {
  if (!links) return std::nullopt;
  const std::string topology =
      given.value("--measured-on", report.topology.emulated ? "host_staged" : "all");
  return analysis::fabric_of(*links, topology);
}

analysis::Target target_of(const WordOptions& given, const std::optional<LinksReport>& links,
                           const Report& report) {
  analysis::Target target;
  int in_set = 0;
  if (given.has("--bus-bandwidth")) {
    const double bus = 1e9 * given.number("--bus-bandwidth", 0, 1e-3, 1e5);
    const double latency = 1e-6 * given.number("--latency-us", 5, 0, 1e6);
    target.fabric = analysis::ring_fabric(given.value("--topology", "ring"), bus, latency,
                                          "a ring of " + report::bytes_text(bus) + "/s, as given");
    in_set = static_cast<int>(given.number("--per-host", 1 << 20, 1, 1 << 20));
  } else if (links) {
    const std::string topology = one(given, "--topology");
    target.fabric = analysis::fabric_of(*links, topology);
    in_set = analysis::devices_in(*links, topology);
  } else {
    throw Error(ExitCode::kUsage, "predict: give --links FILE with --topology, or --bus-bandwidth");
  }
  const double measured = static_cast<double>(report.ranks.size());
  target.devices = static_cast<int>(
      given.number("--devices", std::min<double>(std::max(measured, 2.0), in_set), 1, 1 << 20));
  target.devices_per_host = static_cast<int>(given.number("--per-host", in_set, 1, 1 << 20));
  target.compute_scale = given.number("--compute-scale", 1, 1e-3, 1e3);
  if (given.has("--network")) {
    target.network = analysis::Network{1e9 * given.number("--network", 0, 1e-3, 1e5),
                                       1e-6 * given.number("--network-latency-us", 10, 0, 1e6)};
  } else if (target.devices > target.devices_per_host) {
    throw Error(ExitCode::kUsage, "predict: " + std::to_string(target.devices) +
                                      " devices are more than the " +
                                      std::to_string(target.devices_per_host) +
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
                           {"--topology", "a name"},
                           {"--measured-on", "a name"},
                           {"--devices", "a number"},
                           {"--per-host", "a number"},
                           {"--network", "GB/s"},
                           {"--network-latency-us", "microseconds"},
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
  const std::optional<LinksReport> links = links_of(given);
  const analysis::Target target = target_of(given, links, report);
  const Prediction prediction =
      analysis::predict(analysis::step_model(report), own_fabric(links, report, given), target);
  const std::string text = given.has("--json") ? base::to_json(base::to_value(prediction), 2) + "\n"
                                               : text_of(prediction);
  std::fputs(text.c_str(), stdout);
  return ExitCode::kOk;
}

}  // namespace falcon::cli
