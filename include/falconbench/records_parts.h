// The parts of a worker's records (falconbench/records.h).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/records_loader.h"
#include "falconbench/run_spec.h"

namespace falcon {

/// Exposed time of each step on the training stream by phase, ms; one entry a measured step in each
/// list, in step order. A phase that cannot be told apart has an empty list and a reason.
struct PhaseTimes {
  std::map<std::string, std::vector<double>> ms;  // data_wait, h2d, forward, backward,
                                                  // communication_exposed, optimizer, other
  std::map<std::string, std::string> reasons;     // phase -> why it is missing
};
template <class V>
void visit_fields(PhaseTimes& p, V& v) {
  v.field("ms", p.ms, "phase -> one time a step");
  v.field("reasons", p.reasons, "phase -> why it is missing");
}

struct CommunicationRecord {
  std::int64_t bytes_per_step = 0;  // payload handed to all-reduce by this rank
  std::int64_t calls_per_step = 0;
  Measured<double> busy_ms;  // mean a step on the communication stream
};
template <class V>
void visit_fields(CommunicationRecord& c, V& v) {
  v.field("bytes_per_step", c.bytes_per_step, "gradient bytes reduced in a step");
  v.field("calls_per_step", c.calls_per_step, "collectives in a step");
  v.field(
      "busy_ms", c.busy_ms,
      "mean busy time of the communication stream a step; of a graph: in replays of the warm-up");
}

/// What one rank holds for its training, by the tensors it has; without activations.
struct MemoryRecord {
  std::int64_t parameter_bytes = 0, gradient_bytes = 0, master_bytes = 0, optimizer_bytes = 0,
               exchange_bytes = 0;
};
template <class V>
void visit_fields(MemoryRecord& m, V& v) {
  v.field("parameter_bytes", m.parameter_bytes, "parameters that the model computes with");
  v.field("gradient_bytes", m.gradient_bytes, "gradients kept until the update");
  v.field("master_bytes", m.master_bytes,
          "float32 copies that are updated in place of 16-bit parameters");
  v.field("optimizer_bytes", m.optimizer_bytes, "what the optimizer keeps beside them");
  v.field("exchange_bytes", m.exchange_bytes,
          "the most of parameters and gradients that were whole only while under way");
}

/// A step's work captured as a CUDA graph and replayed.
struct GraphRecord {
  std::int64_t nodes = 0;
  double capture_s = 0;
  std::int64_t eager_peak_bytes = 0;  // allocator, reserved, before the capture
  std::int64_t memory_bytes = 0;      // reserved by the graph for itself
};
template <class V>
void visit_fields(GraphRecord& g, V& v) {
  v.field("nodes", g.nodes, "kernels, copies and events of a step");
  v.field("capture_s", g.capture_s, "time to capture and prepare it, in the warm-up");
  v.field("eager_peak_bytes", g.eager_peak_bytes,
          "peak of the caching allocator in the steps before it, which were enqueued one by one");
  v.field("memory_bytes", g.memory_bytes,
          "memory that the graph keeps for its intermediate values");
}
/// Begins the reason of a missing GraphRecord when a capture was tried.
inline constexpr const char* kCaptureFailed = "could not be captured: ";

/// Kinds of a pause.
inline constexpr const char* kCheckpointPause = "checkpoint";
inline constexpr const char* kEvaluationPause = "evaluation";

/// A time between or after the measured steps in which something else was done.
struct PauseRecord {
  std::string kind;
  std::int64_t step = 0;  // after so many steps of the training
  double begin_s = 0, end_s = 0;
  std::string file;  // written by this rank
  std::int64_t bytes = 0;
};
template <class V>
void visit_fields(PauseRecord& p, V& v) {
  v.field("kind", p.kind, "checkpoint or evaluation");
  v.field("step", p.step, "steps of the training before it");
  v.field("begin_s", p.begin_s, "end of the step before");
  v.field("end_s", p.end_s, "when training went on, or all was done");
  v.field("file", p.file, "file that this rank wrote");
  v.field("bytes", p.bytes, "its size");
}

/// Of all ranks, at rank 0.
struct EvaluationRecord {
  std::int64_t samples = 0, skipped = 0;
  std::map<std::string, double> metrics;
};
template <class V>
void visit_fields(EvaluationRecord& e, V& v) {
  v.field("samples", e.samples, "samples that count");
  v.field("skipped", e.skipped, "samples left out as damaged");
  v.field("metrics", e.metrics, "measure -> value");
}

struct SavedFile {
  std::string file;
  std::int64_t bytes = 0;
  double time_s = 0;
};
template <class V>
void visit_fields(SavedFile& f, V& v) {
  v.field("file", f.file, "where it lies");
  v.field("bytes", f.bytes, "its size");
  v.field("time_s", f.time_s, "time to write it");
}

/// Where the weights at the start came from.
struct WeightsRecord {
  std::string source = kRandomInit;
  std::int64_t tensors = 0;  // of the model
  std::int64_t loaded = 0;   // of those
  std::int64_t missing = 0, unused = 0;
  std::vector<std::string> missing_names, unused_names;  // the first 100
};
template <class V>
void visit_fields(WeightsRecord& w, V& v) {
  v.field("source", w.source, "random, or the file");
  v.field("tensors", w.tensors, "parameters and buffers of the model");
  v.field("loaded", w.loaded, "those that came from the file");
  v.field("missing", w.missing, "those that the file lacks: they keep their start values");
  v.field("unused", w.unused, "tensors of the file that the model does not have");
  v.field("missing_names", w.missing_names, "the first 100 of the missing");
  v.field("unused_names", w.unused_names, "the first 100 of the unused");
}

}  // namespace falcon
