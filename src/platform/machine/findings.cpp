#include "platform/machine/findings.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "platform/dump/lines.h"

namespace falcon::platform {
namespace {

Finding warning(const char* id, std::string message, std::string evidence, std::string advice) {
  return {id, "warning", std::move(message), std::move(evidence), std::move(advice)};
}

// GPUs whose links have the same fault make one finding.
void find_links(Machine& machine) {
  std::map<std::string, std::vector<std::string>> gpus;  // by verdict
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const std::string verdict = link_verdict(machine, i);
    const bool is_fault =
        verdict.find("narrow") != std::string::npos || verdict.starts_with("slow");
    if (is_fault) gpus[verdict].push_back(std::to_string(i));
  }
  for (const auto& [verdict, numbers] : gpus) {
    machine.findings.push_back(warning(
        "pcie_link_degraded", "the PCIe link of GPU " + base::join(numbers, ", ") + ": " + verdict,
        "see the links",
        "look at the slot, the riser or cable, and how the firmware splits its lanes"));
  }
}

void find_power_caps(const Dump& dump, Machine& machine) {
  for (const auto& report : dump.reports) {
    for (const SmiGpu& gpu : report.content.gpus) {
      if (says_nothing(gpu.power_limit) || says_nothing(gpu.power_limit_default)) continue;
      const auto limit = leading_real(*gpu.power_limit);
      const auto usual = leading_real(*gpu.power_limit_default);
      if (!limit || !usual || *limit >= *usual) continue;
      machine.findings.push_back(warning(
          "gpu_power_capped", "the GPU at " + gpu.bus_id + " is limited below its default power",
          *gpu.power_limit + " of " + *gpu.power_limit_default,
          "nvidia-smi -pl, or ask who runs the machine"));
    }
    break;  // text and XML of one machine say the same
  }
}

void find_access_control(const Dump& dump, Machine& machine) {
  if (!dump.access_control) return;
  std::vector<std::string> bits;
  for (const auto& [name, count] : dump.access_control->content.bits_on) {
    if (name == "ReqRedir" || name == "CmpltRedir") {
      bits.push_back(name + " on in " + std::to_string(count) + " of " +
                     std::to_string(dump.access_control->content.lines));
    }
  }
  if (bits.empty()) return;
  machine.findings.push_back(warning(
      "acs_redirects", "PCIe switches send traffic between GPUs up to the root complex",
      dump.access_control->file + ": " + base::join(bits, ", "),
      "turn ACS off on the bridges above the GPUs where no virtual machine needs it; peer copies "
      "otherwise run at about half speed, or hang"));
}

void find_peer_status(const Dump& dump, Machine& machine) {
  for (const auto& status : dump.peer_status) {
    std::set<std::string> words;
    for (const auto& row : status.content.cells) {
      for (const auto& cell : row) {
        if (cell && *cell != "X" && *cell != "OK") words.insert(*cell);
      }
    }
    if (words.empty()) continue;
    machine.findings.push_back(warning(
        "peer_access_blocked", "not every GPU may reach every other one",
        status.file + ": " + base::join(std::vector<std::string>(words.begin(), words.end()), ", "),
        "expect copies through host memory between these GPUs"));
  }
}

void find_mig(const Dump& dump, Machine& machine) {
  for (const auto& report : reports_or_table(dump)) {
    for (const SmiGpu& gpu : report.content.gpus) {
      if (gpu.mig != "Enabled") continue;
      machine.findings.push_back(
          warning("mig_enabled", "the GPU at " + gpu.bus_id + " is split into MIG instances",
                  report.file + ": " + std::to_string(gpu.mig_devices.size()) + " instances",
                  "a process sees one instance, without peer access; nvidia-smi -mig 0 ends it"));
    }
  }
}

void find_missing_driver(const Dump& dump, Machine& machine) {
  if (!dump.host || dump.host->driver.has_value() || machine.gpus.empty()) return;
  machine.findings.push_back(warning("gpu_without_driver", "the GPUs have no driver",
                                     dump.host->driver.reason, "install or load NVIDIA's driver"));
}

}  // namespace

Finding sources_disagree(const std::string& what, const std::string& believed,
                         const std::string& other) {
  return warning("sources_disagree", "the files disagree on " + what, believed + "; " + other,
                 "the first is believed; make sure that all files are of one machine and moment");
}

void find_faults(const Dump& dump, Machine& machine) {
  find_links(machine);
  find_power_caps(dump, machine);
  find_access_control(dump, machine);
  find_peer_status(dump, machine);
  find_mig(dump, machine);
  find_missing_driver(dump, machine);
}

}  // namespace falcon::platform
