#include "cli/plan_text.h"

#include <algorithm>
#include <cstdio>

#include "base/codec.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/plan_places.h"

namespace falcon::cli {
namespace {

std::string scalar(const base::Value& value) {
  if (value.is_text()) return base::printable(value.as_text(), 60);
  return base::to_json(value);
}

void add_spec_lines(const base::Value& value, const std::string& key, const Plan& plan,
                    std::string& out) {
  if (value.is_object() && !value.as_object().empty()) {
    for (const base::Value::Member& member : value.as_object()) {
      add_spec_lines(member.value, base::join_key(key, member.name), plan, out);
    }
    return;
  }
  const auto origin = plan.spec_origin.find(key);
  char line[512];
  std::snprintf(line, sizeof line, "  %-28s %-36s %s\n", key.c_str(), scalar(value).c_str(),
                origin == plan.spec_origin.end() ? "" : origin->second.c_str());
  out += line;
}

// 0-3,8 for {0, 1, 2, 3, 8}.
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ",";
    text += std::to_string(numbers[i]);
    if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string gigabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

std::int64_t left_out(const DataFacts& data) {
  std::int64_t sum = 0;
  for (const auto& [reason, count] : data.skipped) sum += count;
  return sum;
}

std::string measured_text(const Plan& plan) {
  const BudgetSpec& budget = plan.spec.budget;
  if (plan.measured_steps) return std::to_string(*plan.measured_steps) + " measured";
  if (budget.seconds) return base::number_text(*budget.seconds) + " s measured";
  return std::to_string(*budget.epochs) + " epochs measured";
}

void add_steps(const Plan& plan, std::string& out) {
  add_plan_line(out, "batch",
                (plan.spec.accumulate > 1 ? std::to_string(plan.spec.accumulate) + " x " : "") +
                    std::to_string(plan.micro_batch) + " per rank, " +
                    std::to_string(plan.global_batch) + " in all");
  if (!plan.data.unknown.empty()) {
    add_plan_line(out, "data", "not looked at: " + plan.data.unknown + ", " + plan.data.folder);
  } else {
    add_plan_line(
        out, "data",
        std::to_string(plan.data.samples) + " samples, " + std::to_string(plan.data.classes) +
            " classes" + (plan.data.folder.empty() ? "" : ", " + plan.data.folder) +
            (plan.data.skipped.empty() ? ""
                                       : ", " + std::to_string(left_out(plan.data)) + " left out"));
    add_plan_line(out, "steps in an epoch",
                  std::to_string(plan.steps_per_epoch) + ", " +
                      std::to_string(plan.dropped_per_epoch) + " samples dropped");
  }
  add_plan_line(out, "steps",
                std::to_string(plan.warmup_steps) + " warm-up, " + measured_text(plan));
}

void add_ranks(const Plan& plan, std::string& out) {
  for (const RankPlan& rank : plan.ranks) {
    std::string text = rank.devices.front().name;
    for (const DevicePlan& device : rank.devices) {
      if (!device.pci_address.empty()) text += " " + device.pci_address + " " + device.uuid;
    }
    text += ", CPUs " + ranges(rank.cpus) + ", " + std::to_string(rank.decode_threads) +
            " decode and " + std::to_string(rank.compute_threads) + " compute threads";
    add_plan_line(out, "rank " + std::to_string(rank.rank), text);
  }
}

void add_nccl(const Plan& plan, std::string& out) {
  if (!plan.spec.emulate.falcon_link) return;
  std::string text = *plan.spec.emulate.falcon_link + ":";
  for (const auto& [name, value] : plan.nccl.environment) text += " " + name + "=" + value;
  if (!plan.nccl.topology.empty()) text += ", with a topology file (see --json)";
  add_plan_line(out, "EMULATED falcon_link", text);
}

}  // namespace

std::string plan_text(const Plan& plan) {
  std::string out = "spec (value, where it comes from)\n";
  add_spec_lines(base::to_value(plan.spec), "", plan, out);
  out += "plan\n";
  add_plan_line(out, "spec_hash", plan.spec_hash);
  add_plan_line(out, "parallelism",
                plan.parallelism + ", " + std::to_string(plan.ranks.size()) +
                    (plan.ranks.size() == 1 ? " rank" : " ranks") + ", backend " + plan.backend);
  add_ranks(plan, out);
  add_places(plan.places, out);
  add_chassis(plan.chassis, out);
  add_nccl(plan, out);
  add_steps(plan, out);
  const MemoryEstimate& memory = plan.memory;
  add_plan_line(out, "memory of one device",
                gigabytes(memory.total_bytes) + " estimated: weights " +
                    gigabytes(memory.weights_bytes) + ", gradients " +
                    gigabytes(memory.gradients_bytes) + ", optimizer " +
                    gigabytes(memory.optimizer_bytes) + ", activations " +
                    gigabytes(memory.activations_bytes));
  for (const Finding& finding : plan.findings) {
    add_plan_line(out, finding.severity,
                  finding.message + " (" + finding.evidence + "); " + finding.advice);
  }
  return out;
}

std::string plan_json(const Plan& plan) {
  base::Value value = base::to_value(plan);
  value.set("spec", base::to_value(plan.spec));
  return base::to_json(value, 2) + "\n";
}

}  // namespace falcon::cli
