// What comparisons, exports and the page need of one run, so that a thousand reports do not have to
// stay in memory. Every figure is missing with its reason where the report has none.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/report.h"

namespace falcon::analysis {

/// Resolved spec, split by what a comparison asks: `work` has to be the same (model, data and its
/// size, batch, precision, ...); `settings` are what is compared (topology, storage, parallelism,
/// engine, ...). Dotted key -> JSON text. Seed, name, output, paths and telemetry are in neither:
/// reports that differ only there are repeats.
struct SpecParts {
  std::map<std::string, std::string> work, settings;
};
SpecParts split_spec(const Report& report);

struct RunFacts {
  std::string file, id, name, status, error, started_at, revision, hostname, devices_text;
  std::string model, topology, storage, parallelism, precision;
  int devices = 0;
  bool has_gpus = false;
  bool emulated = false;
  std::string topology_verdict;
  std::map<std::string, std::string> work, settings;
  Measured<double> samples_per_s, sample_time_ms, step_ms, step_ci95_ms;
  Measured<double> communication_exposed_ms, communication_busy_ms;
  Measured<double> pcie_bytes_per_s, falcon_pcie_bytes_per_s;
  Measured<double> gpu_busy_pct, gpu_memory_used_pct, gpu_memory_busy_pct, gpu_power_w;
  Measured<double> cpu_pct, host_memory_bytes;
  Measured<double> energy_j_per_sample, energy_j_per_epoch;
  Measured<double> mfu;
};
template <class V>
void visit_fields(RunFacts& r, V& v) {
  v.field("file", r.file, "report file");
  v.field("id", r.id, "run.id");
  v.field("name", r.name, "run.name");
  v.field("status", r.status, "run.status");
  v.field("error", r.error, "error.message; empty when there is none");
  v.field("started_at", r.started_at, "wall clock, UTC");
  v.field("revision", r.revision, "of the program that measured");
  v.field("hostname", r.hostname, "host of the launcher");
  v.field("devices_text", r.devices_text, "number and kind of devices");
  v.field("model", r.model, "model");
  v.field("topology", r.topology, "set of GPUs as the spec names it");
  v.field("storage", r.storage, "storage by its name, else the mount that the data lies on");
  v.field("parallelism", r.parallelism, "strategy");
  v.field("precision", r.precision, "precision");
  v.field("devices", r.devices, "number of devices; a CPU worker counts as one");
  v.field("has_gpus", r.has_gpus, "the devices are GPUs");
  v.field("emulated", r.emulated, "an effect of the chassis was imposed");
  v.field("topology_verdict", r.topology_verdict, "matched, mismatched or unknown");
  v.field("work", r.work, "what was trained: the same in runs that can be compared");
  v.field("settings", r.settings, "how it was trained: what is compared");
  v.field("samples_per_s", r.samples_per_s, "training.throughput.samples_per_s");
  v.field("sample_time_ms", r.sample_time_ms,
          "training.training_time_s / samples: evaluation and checkpoints included");
  v.field("step_ms", r.step_ms, "mean step");
  v.field("step_ci95_ms", r.step_ci95_ms, "half width of its 95 % interval");
  v.field("communication_exposed_ms", r.communication_exposed_ms,
          "gradient exchange a step that computation does not hide");
  v.field("communication_busy_ms", r.communication_busy_ms, "gradient exchange a step");
  v.field("pcie_bytes_per_s", r.pcie_bytes_per_s, "received and sent, sum over the GPUs");
  v.field("falcon_pcie_bytes_per_s", r.falcon_pcie_bytes_per_s,
          "the same of the GPUs in the chassis only");
  v.field("gpu_busy_pct", r.gpu_busy_pct, "time with a kernel resident, mean over the GPUs");
  v.field("gpu_memory_used_pct", r.gpu_memory_used_pct, "memory in use, mean over the GPUs");
  v.field("gpu_memory_busy_pct", r.gpu_memory_busy_pct,
          "time with device memory read or written, mean over the GPUs");
  v.field("gpu_power_w", r.gpu_power_w, "power, sum over the GPUs");
  v.field("cpu_pct", r.cpu_pct, "busy share of the host's logical CPUs");
  v.field("host_memory_bytes", r.host_memory_bytes, "host memory in use, mean");
  v.field("energy_j_per_sample", r.energy_j_per_sample, "boards only, without the host");
  v.field("energy_j_per_epoch", r.energy_j_per_epoch, "the same for one pass over the data");
  v.field("mfu", r.mfu, "model FLOPs utilisation, 0..1");
}

RunFacts facts_of(const Report& report, const std::string& file);

/// Topology, and the storage where the spec names one: how the paper names its configurations.
std::string configuration_name(const RunFacts& run);

}  // namespace falcon::analysis
