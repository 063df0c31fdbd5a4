#include <optional>
#include <utility>

#include "analysis/export/exporters.h"
#include "analysis/run_facts.h"
#include "base/text.h"

namespace falcon::analysis {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

std::string label_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += (text.empty() ? "" : ",") + name + "=\"";
    for (const char c : value) {
      if (c == '\\' || c == '"') text += '\\';
      text += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    text += "\"";
  }
  return "{" + text + "}";
}

/// Families in the order of their first line; all lines of a family stand together.
class Families {
 public:
  void add(const std::string& name, const std::string& help, const Labels& labels, double value) {
    Family* family = nullptr;
    for (Family& known : families_) {
      if (known.name == name) family = &known;
    }
    if (family == nullptr) family = &families_.emplace_back(Family{name, help, ""});
    family->lines += name + label_text(labels) + " " + base::number_text(value) + "\n";
  }
  void add(const std::string& name, const std::string& help, const Labels& labels,
           const Measured<double>& value, double scale = 1) {
    if (value.has_value()) add(name, help, labels, *value * scale);
  }
  std::string text() const {
    std::string out;
    for (const Family& family : families_) {
      out += "# HELP " + family.name + " " + family.help + "\n# TYPE " + family.name + " gauge\n" +
             family.lines;
    }
    return out;
  }

 private:
  struct Family {
    std::string name, help, lines;
  };
  std::vector<Family> families_;
};

Labels with(Labels labels, const std::string& name, const std::string& value) {
  labels.emplace_back(name, value);
  return labels;
}

/// Adds a phase for each field.
struct PhaseLines {
  Families& out;
  const Labels& labels;
  void field(const char* name, const Measured<Statistics>& phase, const char*) {
    if (!phase.has_value()) return;
    out.add("falconbench_phase_seconds", "Exposed time of a phase, mean of a step.",
            with(labels, "phase", name), phase.value->mean, 1e-3);
  }
};

void add_steps(const Report& report, const Labels& labels, Families& out) {
  const Statistics& steps = report.training.step_time_ms;
  const std::vector<std::pair<const char*, Measured<double>>> quantiles{
      {"0", steps.min},    {"0.5", steps.p50},  {"0.9", steps.p90},
      {"0.95", steps.p95}, {"0.99", steps.p99}, {"1", steps.max}};
  for (const auto& [quantile, value] : quantiles) {
    out.add("falconbench_step_seconds", "Time of a measured step, by quantile.",
            with(labels, "quantile", quantile), value, 1e-3);
  }
  Phases phases = report.training.phases_ms;
  PhaseLines lines{out, labels};
  visit_fields(phases, lines);
}

Measured<double> mean_of(const MeasuredSummary& summary) {
  return summary.has_value() ? Measured<double>(summary.value->mean)
                             : Measured<double>::missing(summary.reason);
}

void add_gpus(const Report& report, const Labels& labels, Families& out) {
  for (const GpuTelemetry& gpu : report.utilization.gpus) {
    const Labels own = with(labels, "gpu", gpu.uuid);
    out.add("falconbench_gpu_busy_ratio", "Time with a kernel resident.", own,
            mean_of(gpu.gpu_busy_pct), 0.01);
    out.add("falconbench_gpu_memory_access_ratio", "Time with device memory read or written.", own,
            mean_of(gpu.memory_busy_pct), 0.01);
    out.add("falconbench_gpu_memory_used_bytes", "Device memory in use.", own,
            mean_of(gpu.memory_used_bytes));
    out.add("falconbench_gpu_power_watts", "Power of the board.", own, mean_of(gpu.power_w));
    out.add("falconbench_gpu_energy_joules", "Energy of the measured window.", own, gpu.energy_j);
    out.add("falconbench_gpu_pcie_bytes_per_second", "PCIe traffic, by direction.",
            with(own, "direction", "rx"), mean_of(gpu.pcie_rx_bytes_per_s));
    out.add("falconbench_gpu_pcie_bytes_per_second", "PCIe traffic, by direction.",
            with(own, "direction", "tx"), mean_of(gpu.pcie_tx_bytes_per_s));
  }
}

}  // namespace

ExportFiles prometheus_text(const Reports& reports) {
  Families out;
  for (const NamedReport& named : reports) {
    const Report& report = named.report;
    const RunFacts facts = facts_of(report, named.file);
    const Labels run{{"run", facts.id}};
    const Labels labels{{"run", facts.id},
                        {"model", facts.model},
                        {"topology", facts.topology},
                        {"storage", facts.storage},
                        {"precision", facts.precision}};
    Labels info = labels;
    info.insert(info.end(), {{"name", facts.name},
                             {"status", facts.status},
                             {"hostname", facts.hostname},
                             {"devices", facts.devices_text},
                             {"emulated", facts.emulated ? "true" : "false"},
                             {"revision", facts.revision}});
    out.add("falconbench_run_info", "What ran where; the value is 1.", info, 1);
    out.add("falconbench_run_ok", "1: the run ended well.", labels, facts.status == "ok" ? 1 : 0);
    out.add("falconbench_samples_per_second", "Training throughput of all devices.", labels,
            facts.samples_per_s);
    out.add("falconbench_training_time_seconds",
            "Measured steps with evaluation and checkpoints, without set-up and warm-up.", labels,
            report.training.training_time_s);
    out.add("falconbench_communication_exposed_seconds",
            "Gradient exchange of a step that computation does not hide.", labels,
            facts.communication_exposed_ms, 1e-3);
    out.add("falconbench_mfu_ratio", "Model FLOPs utilisation.", labels, facts.mfu);
    out.add("falconbench_energy_joules_per_sample", "Boards of the GPUs only.", labels,
            facts.energy_j_per_sample);
    out.add("falconbench_host_cpu_ratio", "Busy share of the host's logical CPUs.", labels,
            facts.cpu_pct, 0.01);
    out.add("falconbench_host_memory_used_bytes", "Host memory in use.", labels,
            facts.host_memory_bytes);
    add_steps(report, labels, out);
    add_gpus(report, run, out);
  }
  return {{"", out.text()}};
}

}  // namespace falcon::analysis
