// Rules about devices and what they do together: strategy, engine, CPU, batch, time.
#include <string>

#include "base/text.h"
#include "spec/rules.h"

namespace falcon::spec {

void Rules::check_strategy() {
  const StrategyFacts* strategy =
      given("parallelism") ? catalog::find_parallelism(spec_.parallelism.kind) : nullptr;
  if (strategy == nullptr) return;
  const EngineSpec& engine = spec_.engine;
  if (strategy->divides_state && engine.allreduce == "off") {
    fault("engine.allreduce", "off leaves " + strategy->name +
                                  " without the parameters of other ranks; accepted there: on");
  }
  if (!strategy->is_one_rank) return;
  if (engine.graphs == "on") {
    fault("engine.graphs",
          "on cannot be with parallelism " + strategy->name +
              ", whose step spans devices and threads; accepted there: auto or off");
  }
  if (engine.gradient_dtype != EngineSpec().gradient_dtype) {
    fault("engine.gradient_dtype", "has no effect: parallelism " + strategy->name +
                                       " copies gradients as they are; accepted there: fp32");
  }
  if (engine.allreduce == "off") {
    fault("engine.allreduce",
          "has no effect: parallelism " + strategy->name + " has one rank; accepted there: on");
  }
}

void Rules::check_engine() {
  if (spec_.engine.deterministic && spec_.engine.cudnn_benchmark) {
    fault("engine.cudnn_benchmark",
          "true chooses algorithms by time, but engine.deterministic is true");
  }
  const bool exchanges = !given("parallelism") || spec_.parallelism.kind != "none";
  if (!exchanges && spec_.engine.gradient_dtype != EngineSpec().gradient_dtype) {
    fault("engine.gradient_dtype", "has no effect: with parallelism none nothing is exchanged");
  }
  if (!exchanges && spec_.engine.allreduce == "off") {
    fault("engine.allreduce", "has no effect: with parallelism none nothing is exchanged");
  }
  check_strategy();
  if (spec_.engine.graphs == "on" && spec_.warmup_steps < kGraphWarmupSteps) {
    fault("engine.graphs",
          "on needs " + std::to_string(kGraphWarmupSteps) + " warm-up steps, but warmup_steps is " +
              std::to_string(spec_.warmup_steps) + "; accepted with fewer: auto or off");
  }
}

// Where the spec alone says how many there are.
std::optional<std::int64_t> Rules::num_devices() const {
  if (given("devices")) return spec_.devices;
  if (given("topology") && !spec_.topology.items.empty()) {
    return static_cast<std::int64_t>(spec_.topology.items.size());
  }
  if (given("topology") && spec_.topology.name == "cpu") return 2;
  return {};
}

void Rules::check_devices() {
  const std::optional<std::int64_t> known = num_devices();
  const StrategyFacts* strategy =
      given("parallelism") ? catalog::find_parallelism(spec_.parallelism.kind) : nullptr;
  if (strategy != nullptr && strategy->divides_state && known == 1) {
    fault("parallelism",
          strategy->name + " divides among devices, but there is one; accepted: none");
  }
  const std::int64_t devices = known.value_or(1);
  if (!given("parallelism") || spec_.parallelism.kind != "none" || devices < 2) return;
  fault("parallelism", "none works on one device, but " +
                           std::string(given("devices") ? "devices is " : "topology has ") +
                           std::to_string(devices) +
                           "; accepted: ddp, sharded or dp, or devices: 1");
}

void Rules::check_cpu() {
  if (!given("topology") || spec_.topology.name != "cpu") return;
  const PrecisionFacts* precision =
      given("precision") ? catalog::find_precision(*spec_.precision) : nullptr;
  if (precision != nullptr && !precision->on_cpu) {
    std::vector<std::string> accepted;
    for (const PrecisionFacts& facts : catalog::precisions()) {
      if (facts.on_cpu) accepted.push_back(facts.name);
    }
    fault("precision", precision->name + " needs a GPU, but topology is cpu; accepted there: " +
                           base::join_or(accepted));
  }
  if (given("engine.graphs") && spec_.engine.graphs == "on") {
    fault("engine.graphs", "on needs a GPU, but topology is cpu; accepted there: auto or off");
  }
  if (given("engine.fused") && spec_.engine.fused == "on") {
    fault("engine.fused", "on needs a GPU, but topology is cpu; accepted there: auto or off");
  }
  if (given("engine.cudnn_benchmark") && spec_.engine.cudnn_benchmark) {
    fault("engine.cudnn_benchmark", "true needs a GPU, but topology is cpu");
  }
  if (given("engine.memory_limit_gb")) {
    fault("engine.memory_limit_gb", "has no effect: it caps GPU memory, but topology is cpu");
  }
}

void Rules::check_batch() {
  const std::optional<std::int64_t> devices = num_devices();
  const bool has_global = given("batch_size.global");
  const std::int64_t parts = devices.value_or(1) * spec_.accumulate;
  if (has_global && *spec_.batch_size.global % parts != 0) {
    std::string of;
    if (devices) of = "devices (" + std::to_string(*devices) + ")";
    if (spec_.accumulate > 1) {
      of += (of.empty() ? "" : " x ") + ("accumulate (" + std::to_string(spec_.accumulate) + ")");
    }
    fault("batch_size.global",
          std::to_string(*spec_.batch_size.global) + " does not divide by " + of);
  }
  std::int64_t batch = 0;
  if (has_global) batch = *spec_.batch_size.global;
  if (given("batch_size.per_gpu")) batch = *spec_.batch_size.per_gpu * parts;
  const std::string key = has_global ? "batch_size.global" : "batch_size.per_gpu";
  const auto check_against = [&](const std::string& other, std::int64_t samples) {
    if (batch <= samples) return;
    fault(key, "one step takes " + std::to_string(batch) + " samples, but " + other + " is " +
                   std::to_string(samples) + ": not one whole batch in an epoch");
  };
  if (given("data.samples")) check_against("data.samples", *spec_.data.samples);
  if (given("data.make") && spec_.data.make) {
    check_against("data.make.train", spec_.data.make->train);
  }
}

void Rules::check_telemetry() {
  const TelemetrySpec& telemetry = spec_.telemetry;
  if (given("telemetry.raw") && given("telemetry.samplers") && telemetry.samplers->empty()) {
    fault("telemetry.raw", "has no effect: telemetry.samplers is empty");
  }
}

void Rules::check_time() {
  if (given("timeout_s") && given("budget.seconds") && *spec_.timeout_s <= *spec_.budget.seconds) {
    fault("timeout_s", base::number_text(*spec_.timeout_s) +
                           " s ends the run before budget.seconds (" +
                           base::number_text(*spec_.budget.seconds) + " s) is over");
  }
}

}  // namespace falcon::spec
