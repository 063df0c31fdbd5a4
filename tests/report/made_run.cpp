#include "made_run.h"

#include <algorithm>
#include <utility>

namespace falcon::report {
namespace {

constexpr double kStart = 100, kWindow = kMadeWindow_s;
constexpr double kStepMs = 10;

DevicePlan device(int rank, bool on_gpu) {
  if (!on_gpu) return {"cpu", "", "", "CPU"};
  const std::string digit = std::to_string(rank);
  return {"cuda", "GPU-0000000" + digit, "0000:0" + digit + ":00.0", "NVIDIA H200"};
}

Plan make_plan(int num_ranks, std::size_t num_steps, bool on_gpu) {
  Plan plan;
  plan.run_id = "20260131T120000Z-1a2b3c";
  plan.spec_hash = std::string(64, 'a');
  plan.spec.name = "made";
  plan.spec.model = "mobilenet_v2";
  plan.spec.image_size = 224;
  plan.spec.topology.name = on_gpu ? "all" : "cpu";
  plan.spec.precision = on_gpu ? "fp16" : "fp32";
  plan.spec.batch_size.per_gpu = 8;
  plan.spec.budget.steps = std::max<std::int64_t>(static_cast<std::int64_t>(num_steps), 1);
  plan.spec.parallelism.kind = num_ranks > 1 ? "ddp" : "none";
  plan.spec_origin["model"] = "made.yaml:1";
  plan.parallelism = plan.spec.parallelism.kind;
  plan.backend = num_ranks == 1 ? "none" : on_gpu ? "nccl" : "gloo";
  plan.micro_batch = 8;
  plan.batch_per_rank = 8;
  plan.global_batch = 8 * num_ranks;
  plan.warmup_steps = 4;
  plan.measured_steps = static_cast<std::int64_t>(num_steps);
  plan.steps_per_epoch = 1000;
  plan.data.samples = 1000 * plan.global_batch;
  plan.data.classes = 1000;
  plan.memory.basis = "made";
  for (int rank = 0; rank < num_ranks; ++rank) {
    RankPlan planned;
    planned.rank = rank;
    planned.host = "node1";
    planned.devices = {device(rank, on_gpu)};
    planned.cpus = {rank};
    plan.ranks.push_back(planned);
  }
  return plan;
}

Host make_host(int num_ranks, bool on_gpu) {
  Host host;
  host.hostname = "node1";
  host.os = std::string("Debian GNU/Linux 12");
  host.cpu.logical = host.cpu.usable = 16;
  for (int rank = 0; rank < num_ranks && on_gpu; ++rank) {
    Gpu gpu;
    const DevicePlan planned = device(rank, true);
    gpu.uuid = planned.uuid;
    gpu.pci_address = planned.pci_address;
    gpu.name = planned.name;
    gpu.pcie_width = 16;
    gpu.pcie_width_max = 16;
    host.gpus.push_back(gpu);
  }
  return host;
}

WorkerRecords make_records(const RankPlan& planned, std::size_t num_steps) {
  WorkerRecords records;
  records.rank = planned.rank;
  records.pid = 4000 + planned.rank;
  records.hostname = "node1";
  records.devices = planned.devices;
  records.started_s = kStart + 0.5;
  records.first_step_end_s = kStart + 4 + planned.rank;
  records.measured_begin_s = kWindow;
  records.measured_end_s = kWindow + static_cast<double>(num_steps) * kStepMs * 1e-3;
  records.warmup_steps = 4;
  records.measured_steps = static_cast<std::int64_t>(num_steps);
  records.step_ms.assign(num_steps, kStepMs);
  const std::vector<std::pair<const char*, double>> phases{
      {"data_wait", 0.25}, {"h2d", 0.25},       {"forward", 3},
      {"backward", 4.5},   {"optimizer", 0.75}, {"communication_exposed", 1},
      {"other", 0.25}};
  for (const auto& [name, ms] : phases) records.phases.ms[name].assign(num_steps, ms);
  for (std::size_t step = 0; step < num_steps + 4; ++step) {
    records.loss.emplace_back(7.0 - 0.0625 * static_cast<double>(step) + planned.rank);
  }
  records.loss_scale = 65536.0;
  records.loader.capacity_samples_per_s = 4000.0;
  records.loader.threads = 4;
  records.communication = {14000000, 3, 2.0};
  records.parameters = 3504872;
  records.parameter_hash = "deadbeefdeadbeef";
  records.evaluation = Measured<EvaluationRecord>::missing("evaluate is off");
  records.saved_weights = Measured<SavedFile>::missing("save_weights is not given");
  records.gpu_memory_peak_bytes = std::int64_t{2000000000};
  return records;
}

Telemetry make_telemetry(const Plan& plan, bool on_gpu) {
  Telemetry telemetry;
  telemetry.began_s = kStart;
  telemetry.utilization.interval_ms = 200;
  telemetry.utilization.window_s = 0.4;
  telemetry.utilization.host.cpu_pct = Summary{43.5, 20, 60, 2, 100};
  telemetry.utilization.host.memory_used_bytes = Summary{12e9, 11e9, 13e9, 2, 100};
  for (const RankPlan& rank : plan.ranks) {
    if (!on_gpu) break;
    GpuTelemetry gpu;
    gpu.uuid = rank.devices.front().uuid;
    gpu.pci_address = rank.devices.front().pci_address;
    gpu.gpu_busy_pct = Summary{97, 96, 98, 2, 100};
    gpu.power_w = Summary{400.0 + 10 * rank.rank, 390, 420, 2, 100};
    gpu.memory_peak_bytes = std::int64_t{3000000000};
    gpu.energy_j = 160.0;
    telemetry.utilization.gpus.push_back(gpu);
  }
  return telemetry;
}

}  // namespace

MadeRun::MadeRun(int num_ranks, std::size_t num_steps, bool on_gpu)
    : plan(make_plan(num_ranks, num_steps, on_gpu)),
      host(make_host(num_ranks, on_gpu)),
      telemetry(make_telemetry(plan, on_gpu)) {
  log.started_s = kStart;
  log.ended_s = kStart + 15;
  log.started_at = "2026-01-31T12:00:00.000Z";
  log.ended_at = "2026-01-31T12:00:15.000Z";
  log.events.push_back({kStart + 1, 0, "phase", "model"});
  for (const RankPlan& rank : plan.ranks) {
    log.records.emplace_back(make_records(rank, num_steps));
    WorkerEnd end;
    end.rank = rank.rank;
    end.pid = 4000 + rank.rank;
    end.ended = "exit code 0";
    end.last_step = static_cast<std::int64_t>(num_steps) + 4;
    log.workers.push_back(end);
  }
  model.name = plan.spec.model;
  model.image_size = 224;
  model.forward_flops_per_sample = 6e8;
  precision.name = *plan.spec.precision;
  precision.autocast = precision.loss_scaling = on_gpu;
  circumstances.command_line = {"falconbench", "--config", "made.yaml"};
  circumstances.storage.facts = Measured<StorageFacts>::missing("synthetic data lies nowhere");
  circumstances.storage.cache = Measured<CacheState>::missing("synthetic data reads nothing");
  circumstances.storage.probe = Measured<StorageProbe>::missing("synthetic data reads nothing");
  circumstances.model = &model;
  circumstances.precision = &precision;
}

std::vector<std::string> finding_ids(const Report& report) {
  std::vector<std::string> ids;
  for (const Finding& finding : report.findings) ids.push_back(finding.id);
  return ids;
}

}  // namespace falcon::report
