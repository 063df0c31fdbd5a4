#include "plan/make.h"

#include <algorithm>
#include <cstdio>

#include <sys/random.h>

#include "base/text.h"
#include "falconbench/catalog.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "plan/memory.h"
#include "spec/hash.h"

namespace falcon::plan {
namespace {

class Faults {
 public:
  explicit Faults(const std::map<std::string, std::string>& origin) : origin_(origin) {}
  void add(const std::string& key, const std::string& message) {
    const auto found = origin_.find(key);
    list_.push_back(Fault{found == origin_.end() ? "spec" : found->second, 0, 0, key, message});
  }
  void throw_if_any() const {
    if (!list_.empty()) throw InputError(list_);
  }

 private:
  const std::map<std::string, std::string>& origin_;
  std::vector<Fault> list_;
};

void check_device_and_precision(const RunSpec& spec, const Placement& placement, Faults& faults) {
  const PrecisionFacts& precision = *catalog::find_precision(*spec.precision);
  if (!placement.on_gpu() && !precision.on_cpu) {
    faults.add("precision",
               precision.name + " needs a GPU, but topology is cpu; on the CPU: fp32 or bf16");
  }
  if (!placement.on_gpu() && spec.engine.memory_limit_gb) {
    faults.add("engine.memory_limit_gb", "caps GPU memory, but topology is cpu");
  }
  if (!placement.on_gpu() && spec.engine.cudnn_benchmark) {
    faults.add("engine.cudnn_benchmark", "true needs a GPU, but topology is cpu");
  }
  if (!placement.on_gpu() && spec.engine.graphs == "on") {
    faults.add("engine.graphs", "on needs a GPU, but topology is cpu; accepted there: auto or off");
  }
  if (!placement.on_gpu() && spec.engine.fused == "on") {
    faults.add("engine.fused", "on needs a GPU, but topology is cpu; accepted there: auto or off");
  }
  if (placement.on_gpu() && spec.engine.fused == "on" && spec.engine.channels_last == false) {
    faults.add("engine.fused", "on needs channels_last: true; accepted without it: auto or off");
  }
  if (spec.parallelism.kind == "none" && placement.devices.size() > 1) {
    faults.add("parallelism", "none works on one device, but devices is " +
                                  std::to_string(placement.devices.size()) +
                                  "; use ddp, sharded or dp, or devices: 1");
  }
  const StrategyFacts& strategy = *catalog::find_parallelism(spec.parallelism.kind);
  if (strategy.divides_state && placement.devices.size() == 1) {
    faults.add("parallelism", strategy.name + " divides among devices, but there is one; use none");
  }
}

void check_capability(const RunSpec& spec, const Placement& placement) {
  const int needed = catalog::find_precision(*spec.precision)->min_capability_major;
  for (const Gpu* gpu : placement.gpus) {
    if (gpu->compute_capability.has_value() && std::stoi(*gpu->compute_capability) < needed) {
      throw Error(ExitCode::kHost, "precision " + *spec.precision + " needs compute capability " +
                                       std::to_string(needed) + ".0, but " + gpu->name + " at " +
                                       gpu->pci_address + " has " + *gpu->compute_capability);
    }
  }
}

void size_steps(const RunSpec& spec, Plan& plan, Faults& faults) {
  const auto in_rank = static_cast<std::int64_t>(plan.ranks.front().devices.size());
  const std::int64_t world = static_cast<std::int64_t>(plan.ranks.size()) * in_rank;  // devices
  const std::int64_t parts = world * spec.accumulate;  // of the global batch
  if (spec.batch_size.global && *spec.batch_size.global % parts != 0) {
    const std::string micro_batches =
        spec.accumulate > 1 ? " with " + std::to_string(spec.accumulate) + " micro-batches each"
                            : "";
    faults.add("batch_size.global",
               std::to_string(*spec.batch_size.global) + " cannot be divided among " +
                   std::to_string(world) + " devices" + micro_batches + "; the nearest that can: " +
                   std::to_string(std::max(parts, *spec.batch_size.global / parts * parts)));
    return;
  }
  const std::int64_t of_device =
      spec.batch_size.global ? *spec.batch_size.global / parts : *spec.batch_size.per_gpu;
  plan.micro_batch = of_device * in_rank;
  plan.batch_per_rank = plan.micro_batch * spec.accumulate;
  plan.global_batch = of_device * parts;
  plan.steps_per_epoch = plan.data.samples / plan.global_batch;
  plan.dropped_per_epoch = plan.data.samples % plan.global_batch;
  if (plan.steps_per_epoch == 0 && plan.data.unknown.empty()) {
    faults.add("batch_size", "the global batch of " + std::to_string(plan.global_batch) + " (" +
                                 std::to_string(of_device * spec.accumulate) + " x " +
                                 std::to_string(world) +
                                 " devices) is larger than the data set of " +
                                 std::to_string(plan.data.samples) + " samples");
  }
  plan.warmup_steps = spec.warmup_steps;
  if (spec.budget.epochs && plan.data.unknown.empty()) {
    plan.measured_steps = *spec.budget.epochs * plan.steps_per_epoch;
  }
  if (spec.budget.steps) plan.measured_steps = *spec.budget.steps;
}

// How often checkpoints are written, and that one is.
void time_checkpoints(const RunSpec& spec, Plan& plan, Faults& faults) {
  if (spec.checkpoint.path.empty()) return;
  const WordOrCount& every = *spec.checkpoint.every;
  plan.checkpoint_steps = every.word.empty() ? every.count : plan.steps_per_epoch;
  if (!plan.measured_steps || *plan.measured_steps >= *plan.checkpoint_steps) return;
  faults.add("checkpoint.every", (every.word.empty() ? "" : "an epoch has ") +
                                     std::to_string(*plan.checkpoint_steps) + " steps, but only " +
                                     std::to_string(*plan.measured_steps) +
                                     " are measured: no checkpoint would be written");
}

// Whether the step is captured; refused here is only what the spec alone did not tell.
void choose_graphs(const RunSpec& spec, const Placement& placement, Plan& plan) {
  if (!placement.on_gpu() || spec.engine.graphs == "off") return;
  if (catalog::find_parallelism(spec.parallelism.kind)->is_one_rank) return;
  plan.graphs = spec.warmup_steps >= kGraphWarmupSteps;
  if (plan.graphs) return;
  plan.findings.push_back({"no_graph", "warning", "the step is not captured as a CUDA graph",
                           "warmup_steps is " + std::to_string(spec.warmup_steps) +
                               "; a graph needs " + std::to_string(kGraphWarmupSteps),
                           "give warmup_steps at least that value, or set engine.graphs: off"});
}

void check_classes(const RunSpec& spec, const DataFacts& data, Faults& faults) {
  if (spec.model_options.classes && *spec.model_options.classes < data.classes) {
    faults.add("model_options.classes", std::to_string(*spec.model_options.classes) +
                                            " is fewer than the " + std::to_string(data.classes) +
                                            " classes of the data set");
  }
}

void note_findings(const Placement& placement, const Host& host, Plan& plan) {
  for (const Gpu* gpu : placement.gpus) {
    for (const GpuProcess& process : gpu->processes) {
      plan.findings.push_back(
          {"gpu_in_use", "warning",
           gpu->name + " at " + gpu->pci_address + " is held by another process",
           "pid " + std::to_string(process.pid) +
               (process.name.empty() ? "" : " (" + process.name + ")"),
           "end that process, or choose other GPUs with topology"});
    }
  }
  if (host.cpu.quota_cpus.has_value() &&
      host.cpu.usable < static_cast<int>(host.cpu.allowed.size())) {
    plan.findings.push_back(
        {"quota_limits_cpus", "info", "a container quota leaves fewer CPUs than are visible",
         base::number_text(*host.cpu.quota_cpus) + " of " +
             std::to_string(host.cpu.allowed.size()) + " CPUs",
         "threads are planned for the quota; raise it if the input pipeline is the limit"});
  }
  for (const Gpu* gpu : placement.gpus) {
    if (gpu->memory_bytes.has_value() && plan.memory.total_bytes > *gpu->memory_bytes) {
      plan.findings.push_back(
          {"memory_may_not_fit", "warning", "the estimate is larger than the memory of the GPU",
           std::to_string(plan.memory.total_bytes) + " of " + std::to_string(*gpu->memory_bytes) +
               " bytes on " + gpu->pci_address,
           "use a smaller batch_size.per_gpu"});
    }
  }
}

}  // namespace

Plan make(const ResolvedSpec& resolved, const Placement& placement, const Host& host,
          const DataFacts& data, const std::string& run_id) {
  const std::vector<RankPlan> ranks =
      bind_ranks(placement, host, resolved.spec.data.loader.threads);
  return make(resolved, placement, ranks, host, data, run_id);
}

Plan make(const ResolvedSpec& resolved, const Placement& placement,
          const std::vector<RankPlan>& ranks, const Host& host, const DataFacts& data,
          const std::string& run_id) {
  const RunSpec& spec = resolved.spec;
  Faults faults(resolved.origin);
  check_device_and_precision(spec, placement, faults);
  check_classes(spec, data, faults);
  Plan plan;
  plan.spec = spec;
  plan.spec_origin = resolved.origin;
  plan.run_id = run_id;
  plan.task = catalog::find_model(spec.model)->task;
  plan.parallelism = spec.parallelism.kind;
  plan.topology_devices = placement.names;
  plan.ranks = ranks;
  if (catalog::find_parallelism(plan.parallelism)->is_one_rank) {
    plan.ranks = {joined(plan.ranks)};
    if (spec.data.loader.threads) {
      plan.ranks[0].decode_threads = static_cast<int>(*spec.data.loader.threads);
    }
  }
  plan.backend = plan.ranks.size() < 2 ? "none" : placement.on_gpu() ? "nccl" : "gloo";
  plan.data = data;
  if (!spec.model_options.classes && data.classes > 0) {
    plan.spec.model_options.classes = data.classes;
    plan.spec_origin["model_options.classes"] = "classes of the data set";
  }
  size_steps(spec, plan, faults);
  if (plan.steps_per_epoch > 0) time_checkpoints(spec, plan, faults);
  faults.throw_if_any();
  check_capability(spec, placement);
  plan.spec_hash = spec::spec_hash(plan.spec);
  plan.memory = estimate_memory(
      plan.spec, *catalog::find_model(spec.model),
      plan.micro_batch / static_cast<std::int64_t>(plan.ranks.front().devices.size()),
      static_cast<std::int64_t>(placement.devices.size()));
  choose_graphs(spec, placement, plan);
  note_findings(placement, host, plan);
  return plan;
}

std::string new_run_id() {
  const std::string now = wall_now_text();  // 2026-01-31T12:00:00.000Z
  unsigned char random[3] = {};
  if (getrandom(random, sizeof random, 0) != sizeof random)
    throw Error(ExitCode::kInternal, "getrandom failed");
  char tail[16];
  std::snprintf(tail, sizeof tail, "Z-%02x%02x%02x", random[0], random[1], random[2]);
  std::string id;
  for (const char c : now.substr(0, 19)) {
    if (c != '-' && c != ':') id += c;
  }
  return id + tail;
}

}  // namespace falcon::plan
