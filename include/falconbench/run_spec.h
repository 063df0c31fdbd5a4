// The run spec: what a user asks for. spec::load() reads it, plan::resolve() fills every default in
// (all optionals set), and the resolved spec in the report repeats the run. `falconbench list keys`
// and configs/README.md are made from here.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "falconbench/fields.h"
#include "falconbench/spec_checkpoint.h"
#include "falconbench/spec_data.h"
#include "falconbench/spec_emulate.h"
#include "falconbench/spec_telemetry.h"
#include "falconbench/spec_training.h"

namespace falcon {

/// The word for `init` that names no file.
inline constexpr const char* kRandomInit = "random";

struct RunSpec {
  std::string name;
  std::string model;
  ModelOptionsSpec model_options;
  NameOrList topology;
  std::optional<std::int64_t> devices;
  std::string system;
  std::string storage;
  DataSpec data;
  std::optional<std::string> precision;
  ParallelismSpec parallelism;
  BatchSizeSpec batch_size;
  std::int64_t accumulate = 1;
  BudgetSpec budget;
  std::int64_t warmup_steps = 20;
  std::optional<std::int64_t> image_size;
  std::optional<std::int64_t> sequence_length;
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  std::string init = kRandomInit;
  std::int64_t seed = 0;
  bool evaluate = false;
  CheckpointSpec checkpoint;
  std::string save_weights;
  EngineSpec engine;
  TelemetrySpec telemetry;
  TraceSpec trace;
  EmulateSpec emulate;
  bool strict = false;
  std::optional<double> timeout_s;
  std::string output;
};
template <class V>
void visit_fields(RunSpec& s, V& v) {
  v.field("name", s.name, "text for people and file names (default: the spec file's name)");
  v.field("model", s.model, "what is trained", required_one_of("models"));
  v.field("model_options", s.model_options, "variations of the model");
  v.field("topology", s.topology,
          "a set of GPUs by name (all, or one of the system file), cpu, or a list of GPUs by PCI "
          "address, UUID or "
          "system-file name (default: all; cpu where there is no GPU)");
  v.field("devices", s.devices, "how many of that set, in its order (default: all; cpu: 2 workers)",
          between(1, 4096));
  v.field("system", s.system,
          "system file that describes this machine's GPUs, storage and topologies; relative as "
          "data.path");
  v.field("storage", s.storage, "a storage of the system file: data.path is below its mount");
  v.field("data", s.data, "what is trained on");
  v.field("precision", s.precision, "arithmetic (default: fp16 on a GPU, fp32 on the CPU)",
          one_of("precisions"));
  v.field("parallelism", s.parallelism,
          "how the devices work together (default: ddp; none for one device)");
  v.field("batch_size", s.batch_size, "samples a step (default: per_gpu, by model)");
  v.field("accumulate", s.accumulate,
          "micro-batches of batch_size.per_gpu samples that each device computes for one step, "
          "their gradients averaged",
          between(1, 1024));
  v.field("budget", s.budget,
          "how long the measured part is, after the warm-up (default: 100 steps)");
  v.field("warmup_steps", s.warmup_steps, "real training steps before the measured ones",
          between(0, 1000000));
  v.field("image_size", s.image_size,
          "side of the square input picture, pixels, divisible by 32 (image models; default: by "
          "model)",
          between(32, 4096));
  v.field("sequence_length", s.sequence_length,
          "tokens of an input sequence, padding included (BERT; default: 384)", between(8, 512));
  v.field("optimizer", s.optimizer, "how the weights are updated");
  v.field("schedule", s.schedule, "how the learning rate goes");
  v.field("init", s.init,
          "weights at the start: random, or a safetensors file; relative as data.path");
  v.field("seed", s.seed, "seed of initialisation, data order and augmentation", at_least(0));
  v.field("evaluate", s.evaluate,
          "after the measured steps, run the validation samples through the model: "
          "training.accuracy");
  v.field("checkpoint", s.checkpoint, "what is kept while the run goes on, and going on from it");
  v.field("save_weights", s.save_weights,
          "safetensors file for the weights at the end; relative as data.path");
  v.field("engine", s.engine, "how the training step is carried out");
  v.field("telemetry", s.telemetry, "what is measured beside the training");
  v.field("trace", s.trace, "steps to look into, after the measured ones");
  v.field("emulate", s.emulate,
          "effects of a chassis that are imposed where there is none; the report says so");
  v.field("strict", s.strict, "exit 6 when a finding makes the measurement invalid");
  v.field("timeout_s", s.timeout_s, "end the run with exit 5 after this many seconds in all",
          above(0));
  v.field("output", s.output, "report file (default: reports/<name>-<id>.json)");
}

}  // namespace falcon
