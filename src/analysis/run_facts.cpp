#include "analysis/run_facts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/json.h"

namespace falcon::analysis {
namespace {

// Keys of the spec, or all below them. What stands in neither list is a setting.
constexpr std::array<std::string_view, 13> kWork{
    "model",           "model_options", "data.format", "data.samples", "data.augment",
    "data.doc_stride", "batch_size",    "accumulate",  "precision",    "image_size",
    "sequence_length", "optimizer",     "budget"};
constexpr std::array<std::string_view, 16> kRepeats{
    "name",       "seed",      "output",       "telemetry",  "timeout_s", "strict",
    "system",     "data.path", "data.make",    "data.train", "data.val",  "data.annotations",
    "data.vocab", "storage",   "save_weights", "checkpoint"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::any_of(keys.begin(), keys.end(), [key](std::string_view known) {
    return key == known || (key.starts_with(known) && key[known.size()] == '.');
  });
}

void flatten(const base::Value& value, const std::string& key,
             std::map<std::string, std::string>& out) {
  if (!value.is_object() || value.as_object().empty()) {
    out[key] = value.is_text() ? value.as_text() : base::to_json(value);
    return;
  }
  for (const base::Value::Member& member : value.as_object()) {
    flatten(member.value, base::join_key(key, member.name), out);
  }
}

std::string storage_of(const Report& report) {
  if (!report.spec.storage.empty()) return report.spec.storage;
  const Measured<StorageFacts>& data = report.storage.data;
  return data.has_value() && data.value->mount.has_value() ? *data.value->mount : "";
}

std::string topology_of(const Report& report) {
  const NameOrList& topology = report.spec.topology;
  if (!topology.name.empty()) return topology.name;
  std::string text;
  for (const std::string& item : topology.items) text += (text.empty() ? "" : " ") + item;
  return text.empty() ? "all" : text;
}

using Gpus = std::vector<GpuTelemetry>;

/// Sum of a figure over the GPUs that count; missing when one of them lacks it.
template <class Figure, class Counts>
Measured<double> sum_over(const Gpus& gpus, const Figure& figure, const Counts& counts) {
  double sum = 0;
  int number = 0;
  for (const GpuTelemetry& gpu : gpus) {
    if (!counts(gpu)) continue;
    const Measured<double> value = figure(gpu);
    if (!value.has_value()) return value;
    sum += *value;
    ++number;
  }
  if (number == 0) {
    return Measured<double>::missing(gpus.empty() ? "no GPU computed" : "no GPU is in the chassis");
  }
  return sum;
}

Measured<double> mean_of(const MeasuredSummary& summary) {
  if (!summary.has_value()) return Measured<double>::missing(summary.reason);
  return summary.value->mean;
}

template <class Figure>
Measured<double> average(const Gpus& gpus, const Figure& figure) {
  Measured<double> sum = sum_over(gpus, figure, [](const GpuTelemetry&) { return true; });
  if (sum.has_value()) sum = *sum / static_cast<double>(gpus.size());
  return sum;
}

Measured<double> pcie_of(const GpuTelemetry& gpu) {
  if (!gpu.pcie_rx_bytes_per_s.has_value()) {
    return Measured<double>::missing(gpu.pcie_rx_bytes_per_s.reason);
  }
  if (!gpu.pcie_tx_bytes_per_s.has_value()) {
    return Measured<double>::missing(gpu.pcie_tx_bytes_per_s.reason);
  }
  return gpu.pcie_rx_bytes_per_s.value->mean + gpu.pcie_tx_bytes_per_s.value->mean;
}

Measured<double> memory_used_pct(const GpuTelemetry& gpu, const Host& host) {
  if (!gpu.memory_used_bytes.has_value()) {
    return Measured<double>::missing(gpu.memory_used_bytes.reason);
  }
  for (const Gpu& board : host.gpus) {
    if (board.uuid != gpu.uuid) continue;
    if (!board.memory_bytes.has_value()) {
      return Measured<double>::missing(board.memory_bytes.reason);
    }
    return 100 * gpu.memory_used_bytes.value->mean / static_cast<double>(*board.memory_bytes);
  }
  return Measured<double>::missing("the size of the board is not known");
}

bool is_in_chassis(const Report& report, const GpuTelemetry& gpu) {
  return std::any_of(
      report.topology.gpus.begin(), report.topology.gpus.end(), [&gpu](const TopologyGpu& placed) {
        return placed.uuid == gpu.uuid && placed.attach.has_value() && *placed.attach == "falcon";
      });
}

void add_telemetry(const Report& report, RunFacts& out) {
  const Gpus& gpus = report.utilization.gpus;
  const auto all = [](const GpuTelemetry&) { return true; };
  out.pcie_bytes_per_s = sum_over(gpus, pcie_of, all);
  out.falcon_pcie_bytes_per_s = sum_over(
      gpus, pcie_of, [&report](const GpuTelemetry& gpu) { return is_in_chassis(report, gpu); });
  out.gpu_busy_pct =
      average(gpus, [](const GpuTelemetry& gpu) { return mean_of(gpu.gpu_busy_pct); });
  out.gpu_memory_busy_pct =
      average(gpus, [](const GpuTelemetry& gpu) { return mean_of(gpu.memory_busy_pct); });
  out.gpu_memory_used_pct = average(
      gpus, [&report](const GpuTelemetry& gpu) { return memory_used_pct(gpu, report.system); });
  out.gpu_power_w = sum_over(
      gpus, [](const GpuTelemetry& gpu) { return mean_of(gpu.power_w); }, all);
  out.cpu_pct = mean_of(report.utilization.host.cpu_pct);
  out.host_memory_bytes = mean_of(report.utilization.host.memory_used_bytes);
}

void add_training(const Report& report, RunFacts& out) {
  const Training& training = report.training;
  out.samples_per_s = training.throughput.samples_per_s;
  out.step_ms = training.step_time_ms.mean;
  out.step_ci95_ms = training.step_time_ms.ci95;
  out.communication_exposed_ms = training.communication.exposed_ms;
  out.communication_busy_ms = training.communication.busy_ms;
  out.mfu = training.model.mfu;
  if (!training.training_time_s.has_value()) {
    out.sample_time_ms = Measured<double>::missing(training.training_time_s.reason);
  } else if (training.samples.value.value_or(0) <= 0) {
    out.sample_time_ms = Measured<double>::missing("no samples were measured");
  } else {
    out.sample_time_ms = 1000 * *training.training_time_s / static_cast<double>(*training.samples);
  }
  out.energy_j_per_sample = training.energy_j_per_sample;
  out.energy_j_per_epoch = out.energy_j_per_sample;
  const auto epoch_samples = static_cast<double>(report.plan.steps_per_epoch) *
                             static_cast<double>(report.plan.global_batch);
  if (out.energy_j_per_sample.has_value()) {
    out.energy_j_per_epoch = *out.energy_j_per_sample * epoch_samples;
  }
}

void add_devices(const Report& report, RunFacts& out) {
  std::map<std::string, int> count_by_name;
  for (const RankReport& rank : report.ranks) {
    for (const DevicePlan& device : rank.devices) {
      ++count_by_name[device.name];
      ++out.devices;
      out.has_gpus = out.has_gpus || device.kind == "cuda";
    }
  }
  for (const auto& [name, count] : count_by_name) {
    out.devices_text +=
        (out.devices_text.empty() ? "" : " + ") + std::to_string(count) + " x " + name;
  }
}

}  // namespace

SpecParts split_spec(const Report& report) {
  std::map<std::string, std::string> keys;
  flatten(base::to_value(report.spec), "", keys);
  SpecParts parts;
  for (const auto& [key, text] : keys) {
    if (holds(kRepeats, key)) continue;
    (holds(kWork, key) ? parts.work : parts.settings)[key] = text;
  }
  // Of a budget the kind is work, the amount is not; a data set made of files tells its size here.
  for (const char* kind : {"budget.epochs", "budget.steps", "budget.seconds"}) {
    const auto found = parts.work.find(kind);
    if (found == parts.work.end()) continue;
    parts.settings[kind] = found->second;
    parts.work.erase(found);
    parts.work["budget"] = std::string(kind).substr(7);
  }
  parts.work["data.samples"] = std::to_string(report.plan.data.samples);
  parts.settings["parallelism"] = report.plan.parallelism;
  parts.settings["topology"] = topology_of(report);
  parts.settings["storage"] = storage_of(report);
  if (report.topology.emulated) parts.settings["emulated"] = "yes";
  return parts;
}

RunFacts facts_of(const Report& report, const std::string& file) {
  RunFacts out;
  out.file = file;
  out.id = report.run.id;
  out.name = report.run.name;
  out.status = report.run.status;
  if (report.error.has_value()) out.error = report.error.value->message;
  out.started_at = report.run.started_at;
  out.revision = report.tool.revision;
  out.hostname = report.run.hostname;
  out.model = report.spec.model;
  out.topology = topology_of(report);
  out.storage = storage_of(report);
  out.parallelism = report.plan.parallelism;
  out.precision = report.spec.precision.value_or("");
  out.emulated = report.topology.emulated;
  out.topology_verdict = report.topology.verdict;
  SpecParts parts = split_spec(report);
  out.work = std::move(parts.work);
  out.settings = std::move(parts.settings);
  add_devices(report, out);
  add_training(report, out);
  add_telemetry(report, out);
  return out;
}

std::string configuration_name(const RunFacts& run) {
  const bool is_named = !run.storage.empty() && run.storage.front() != '/';
  return run.topology + (is_named ? " + " + run.storage : "");
}

}  // namespace falcon::analysis
