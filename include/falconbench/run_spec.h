// The run spec: what a user asks for. spec::load() reads it, plan::resolve() fills every default in
// (all optionals set), and the resolved spec in the report repeats the run. `falconbench list keys`
// and configs/README.md are made from here.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"

namespace falcon {

struct ModelOptionsSpec {
  std::optional<std::int64_t> classes;
  std::optional<double> dropout;
};
template <class V>
void visit_fields(ModelOptionsSpec& s, V& v) {
  v.field("classes", s.classes,
          "number of classes (default: those of the data set; synthetic: 1000)", at_least(2));
  v.field("dropout", s.dropout,
          "dropout probability, where the model has one (default: the reference's)",
          between(0, 0.99));
}

struct MakeSpec {
  std::int64_t train = 0;
  std::int64_t val = 0;
  std::int64_t classes = 4;
  std::int64_t side = 500;
  std::int64_t quality = 90;
};
template <class V>
void visit_fields(MakeSpec& s, V& v) {
  v.field("train", s.train, "samples to make in train/", required_at_least(1));
  v.field("val", s.val, "samples to make in val/", at_least(0));
  v.field("classes", s.classes, "number of classes", between(2, 10000));
  v.field("side", s.side, "mean of the longer side of a picture, pixels (they vary by a fifth)",
          between(32, 8192));
  v.field("quality", s.quality, "JPEG quality", between(1, 100));
}

struct LoaderSpec {
  std::optional<std::int64_t> threads;
  std::int64_t prefetch = 4;
};
template <class V>
void visit_fields(LoaderSpec& s, V& v) {
  v.field("threads", s.threads,
          "decode threads of each worker (default: its share of the allowed CPUs)",
          between(1, 1024));
  v.field("prefetch", s.prefetch, "batches read ahead by each worker", between(1, 64));
}

struct DataSpec {
  std::string format = "synthetic";
  std::string path;
  std::string train = "train";
  std::optional<std::int64_t> samples;
  std::optional<MakeSpec> make;
  LoaderSpec loader;
};
template <class V>
void visit_fields(DataSpec& s, V& v) {
  v.field("format", s.format, "what the data is", one_of("datasets"));
  v.field("path", s.path,
          "data folder, relative to the storage's mount if storage is given, else to the spec file "
          "(in --set: to the working directory)");
  v.field("train", s.train, "sub-folder with the training samples");
  v.field("samples", s.samples,
          "size of a synthetic data set (default: the original's, e.g. 1281167)", at_least(1));
  v.field("make", s.make, "fill an empty or absent path with made samples before the run");
  v.field("loader", s.loader, "the input pipeline");
}

struct DdpSpec {
  double bucket_mb = 25;
  double first_bucket_mb = 1;
};
template <class V>
void visit_fields(DdpSpec& s, V& v) {
  v.field("bucket_mb", s.bucket_mb, "size of a gradient bucket, MiB", above(0));
  v.field("first_bucket_mb", s.first_bucket_mb, "size of the first bucket to be reduced, MiB",
          above(0));
}

struct ParallelismSpec {
  std::string kind;  // empty: ddp, or none for one device
  DdpSpec ddp;
};
template <class V>
void visit_fields(ParallelismSpec& s, V& v) {
  v.kind(s.kind, "parallelism");
  v.field("ddp", s.ddp, "one worker per device, gradients averaged in overlapped buckets");
}

struct BatchSizeSpec {
  std::optional<std::int64_t> global;
  std::optional<std::int64_t> per_gpu;
};
template <class V>
void visit_fields(BatchSizeSpec& s, V& v) {
  v.choice();
  v.field("global", s.global, "samples of all devices together in one step", between(1, 1 << 24));
  v.field("per_gpu", s.per_gpu, "samples of each device in one step", between(1, 1 << 20));
}

struct BudgetSpec {
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> steps;
  std::optional<double> seconds;
};
template <class V>
void visit_fields(BudgetSpec& s, V& v) {
  v.choice();
  v.field("epochs", s.epochs, "measured passes over the data", between(1, 1000000));
  v.field("steps", s.steps, "measured steps", between(1, 1000000000));
  v.field("seconds", s.seconds, "measured seconds", between(0.001, 31557600));
}

struct OptimizerSpec {
  std::optional<std::string> kind;
  std::optional<double> lr;
  std::optional<double> momentum;
  std::optional<double> weight_decay;
  std::optional<bool> nesterov;
  std::optional<double> clip_norm;
};
template <class V>
void visit_fields(OptimizerSpec& s, V& v) {
  v.field("kind", s.kind, "optimizer (default: the model's reference recipe, as all of these)",
          one_of("optimizers"));
  v.field("lr", s.lr, "learning rate at the start of the schedule", at_least(0));
  v.field("momentum", s.momentum, "momentum", between(0, 0.9999));
  v.field("weight_decay", s.weight_decay, "weight decay, on every parameter", at_least(0));
  v.field("nesterov", s.nesterov, "Nesterov momentum");
  v.field("clip_norm", s.clip_norm,
          "clip the gradients' Euclidean norm to this (default: no clipping)", above(0));
}

struct ScheduleSpec {
  std::optional<std::string> kind;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> step_epochs;
  std::optional<double> gamma;
  std::optional<double> warmup_epochs;
  std::optional<double> warmup_start;
  std::optional<double> end_lr;
};
template <class V>
void visit_fields(ScheduleSpec& s, V& v) {
  v.field("kind", s.kind, "learning-rate schedule", one_of("schedules"));
  v.field("epochs", s.epochs, "length of the whole schedule, epochs (cosine)", at_least(1));
  v.field("step_epochs", s.step_epochs, "epochs between two drops (step)", at_least(1));
  v.field("gamma", s.gamma, "factor of a drop (step)", between(0, 1));
  v.field("warmup_epochs", s.warmup_epochs, "epochs of linear warm-up", at_least(0));
  v.field("warmup_start", s.warmup_start, "factor of the learning rate at the start of the warm-up",
          between(0, 1));
  v.field("end_lr", s.end_lr, "learning rate at the end (cosine)", at_least(0));
}

struct EngineSpec {
  std::optional<bool> channels_last;
  bool deterministic = false;
  std::optional<double> memory_limit_gb;
  std::string fused = "auto";
};
template <class V>
void visit_fields(EngineSpec& s, V& v) {
  v.field("channels_last", s.channels_last,
          "NHWC memory format (default: on for image models)");
  v.field("deterministic", s.deterministic, "only deterministic algorithms, no cuDNN benchmark");
  v.field("memory_limit_gb", s.memory_limit_gb, "cap of each GPU's memory, GB (1e9 bytes)",
          above(0));
  v.field("fused", s.fused, "own fused GPU kernels: auto, on (an error where there is none) or off",
          one_of("auto_on_off"));
}

struct TelemetrySpec {
  double interval_ms = 200;
  std::optional<std::vector<std::string>> samplers;
  bool series = true;
};
template <class V>
void visit_fields(TelemetrySpec& s, V& v) {
  v.field("interval_ms", s.interval_ms, "time between two readings, milliseconds",
          between(20, 60000));
  v.field("samplers", s.samplers, "which samplers run (default: all that work here; []: none)",
          one_of("samplers"));
  v.field("series", s.series,
          "keep the readings over time in the report, not only their summaries");
}

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
  BudgetSpec budget;
  std::int64_t warmup_steps = 20;
  std::optional<std::int64_t> image_size;
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  std::int64_t seed = 0;
  EngineSpec engine;
  TelemetrySpec telemetry;
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
  v.field("budget", s.budget,
          "how long the measured part is, after the warm-up (default: 100 steps)");
  v.field("warmup_steps", s.warmup_steps, "real training steps before the measured ones",
          between(0, 1000000));
  v.field("image_size", s.image_size,
          "side of the square input picture, pixels, divisible by 32 (default: by model)",
          between(32, 4096));
  v.field("optimizer", s.optimizer, "how the weights are updated");
  v.field("schedule", s.schedule, "how the learning rate goes");
  v.field("seed", s.seed, "seed of initialisation, data order and augmentation", at_least(0));
  v.field("engine", s.engine, "how the training step is carried out");
  v.field("telemetry", s.telemetry, "what is measured beside the training");
  v.field("strict", s.strict, "exit 6 when a finding makes the measurement invalid");
  v.field("timeout_s", s.timeout_s, "end the run with exit 5 after this many seconds in all",
          above(0));
  v.field("output", s.output, "report file (default: reports/<name>-<id>.json)");
}

}  // namespace falcon
