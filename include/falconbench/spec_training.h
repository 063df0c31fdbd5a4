// The parts of a run spec about how the training is carried out, how long and what is measured
// (falconbench/run_spec.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/spec_optimizer.h"

namespace falcon {

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

struct ShardedSpec {
  std::int64_t stage = 2;
  double unit_mb = 10;
};
template <class V>
void visit_fields(ShardedSpec& s, V& v) {
  v.field("stage", s.stage,
          "what is divided among the ranks: 1 optimizer state, 2 also gradients, 3 also parameters",
          between(1, 3));
  v.field("unit_mb", s.unit_mb,
          "least size of what is gathered and reduced at once, MiB: whole blocks of the model",
          above(0));
}

struct ParallelismSpec {
  std::string kind;  // empty: ddp, or none for one device
  DdpSpec ddp;
  ShardedSpec sharded;
};
template <class V>
void visit_fields(ParallelismSpec& s, V& v) {
  v.kind(s.kind, "parallelism");
  v.field("ddp", s.ddp, "one worker per device, gradients averaged in overlapped buckets");
  v.field("sharded", s.sharded,
          "one worker per device, optimizer state, gradients and parameters divided among them");
}

struct BatchSizeSpec {
  std::optional<std::int64_t> global;
  std::optional<std::int64_t> per_gpu;
};
template <class V>
void visit_fields(BatchSizeSpec& s, V& v) {
  v.choice();
  v.field("global", s.global, "samples of all devices together in one step", between(1, 1 << 24));
  v.field("per_gpu", s.per_gpu,
          "samples of each device in one step; with accumulate in one micro-batch of it",
          between(1, 1 << 20));
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

/// A captured step needs so many warm-up steps; the last of them is the captured one. Before it
/// c10d::Reducer lays its buckets out, and libraries choose and allocate.
inline constexpr std::int64_t kGraphWarmupSteps = 12;

struct EngineSpec {
  std::string graphs = "auto";
  std::string gradient_dtype = "fp32";
  std::string allreduce = "on";
  std::optional<bool> channels_last;
  bool deterministic = false;
  bool cudnn_benchmark = false;
  std::optional<double> memory_limit_gb;
  std::string fused = "auto";
};
template <class V>
void visit_fields(EngineSpec& s, V& v) {
  v.field("graphs", s.graphs,
          "the step as a CUDA graph, captured at the end of the warm-up's first 12 steps and "
          "replayed: auto (on GPUs), on (an error where it cannot be) or off",
          one_of("auto_on_off"));
  v.field(
      "gradient_dtype", s.gradient_dtype,
      "what ranks exchange gradients in: fp32, or fp16 or bf16, which halve the bytes and round "
      "them",
      one_of("gradient_dtypes"));
  v.field("allreduce", s.allreduce,
          "off: ranks do not exchange gradients, each trains alone: the step without communication",
          one_of("on_off"));
  v.field("channels_last", s.channels_last, "NHWC memory format (default: on for image models)");
  v.field("deterministic", s.deterministic, "only deterministic algorithms");
  v.field("cudnn_benchmark", s.cudnn_benchmark,
          "let cuDNN time its algorithms in the first step instead of choosing by its own rules: "
          "up to 3 % faster, up "
          "to 25 s later");
  v.field("memory_limit_gb", s.memory_limit_gb, "cap of each GPU's memory, GB (1e9 bytes)",
          above(0));
  v.field("fused", s.fused, "own fused GPU kernels: auto, on (an error where there is none) or off",
          one_of("auto_on_off"));
}

struct TraceSpec {
  std::int64_t steps = 0;
};
template <class V>
void visit_fields(TraceSpec& s, V& v) {
  v.field("steps", s.steps,
          "train so many more steps after the measured ones and write what every rank did in them "
          "beside the report, as <report>.trace: kernels, operators and phases on one timeline",
          between(0, 100));
}

}  // namespace falcon
