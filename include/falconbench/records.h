// What a worker measured: sent once to the launcher at the end (also of an interrupted run), turned
// into the report by report::make. Times are seconds of CLOCK_MONOTONIC unless named _ms.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/links_work.h"
#include "falconbench/measured.h"
#include "falconbench/plan.h"
#include "falconbench/records_parts.h"
#include "falconbench/records_trace.h"
#include "falconbench/transports.h"

namespace falcon {

struct WorkerRecords {
  int rank = 0;
  std::int64_t pid = 0;
  std::string hostname;
  std::vector<DevicePlan> devices;  // what it really computed on, as the runtime names it
  double started_s = 0, model_ready_s = 0,
         first_step_end_s = 0;  // process start, model on device, first step done
  double measured_begin_s = 0,
         measured_end_s = 0;  // ends of the last warm-up and last measured step
  double finished_s = 0;      // everything waited for, before tear-down
  std::int64_t warmup_steps = 0, measured_steps = 0;  // executed
  std::vector<double> step_ms;  // end to end of neighbouring steps, measured ones
  PhaseTimes phases;
  std::vector<std::optional<double>>
      loss;                        // this rank's, warm-up and measured steps; null: not finite
  std::vector<double> lr;          // used by each of them
  Measured<double> loss_scale;     // at the end
  std::int64_t skipped_steps = 0;  // by loss scaling, in all steps
  LoaderRecord loader;
  WeightsRecord weights;  // at the start
  std::vector<PauseRecord> pauses;
  Measured<EvaluationRecord> evaluation;  // rank 0
  Measured<SavedFile> saved_weights;      // rank 0
  CommunicationRecord communication;
  Measured<std::vector<Transport>> transports;  // from and to this rank, of NCCL
  Measured<GraphRecord> graph;
  Measured<TraceRecord> trace;
  std::int64_t parameters = 0;  // trainable
  std::string parameter_hash;   // of all parameter bytes at the end
  MemoryRecord memory;
  Measured<std::int64_t> gpu_memory_peak_bytes;  // allocator, reserved
  std::map<std::string, std::string> choices;    // back ends and modes really used
  std::vector<std::string> notes;                // for findings
  std::optional<LinkRecords> links;              // of a worker that measured links
};
template <class V>
void visit_fields(WorkerRecords& r, V& v) {
  v.field("rank", r.rank, "global rank");
  v.field("pid", r.pid, "process id");
  v.field("hostname", r.hostname, "host");
  v.field("devices", r.devices, "devices it really computed on");
  v.field("started_s", r.started_s, "process start");
  v.field("model_ready_s", r.model_ready_s, "model on the device");
  v.field("first_step_end_s", r.first_step_end_s, "end of the first step");
  v.field("measured_begin_s", r.measured_begin_s, "start of the measured window");
  v.field("measured_end_s", r.measured_end_s, "end of the measured window");
  v.field("finished_s", r.finished_s, "all work done");
  v.field("warmup_steps", r.warmup_steps, "warm-up steps executed");
  v.field("measured_steps", r.measured_steps, "measured steps executed");
  v.field("step_ms", r.step_ms, "time of each measured step");
  v.field("phases", r.phases, "exposed time by phase");
  v.field("loss", r.loss, "loss of each step, null where it was not finite");
  v.field("lr", r.lr, "learning rate of each step");
  v.field("loss_scale", r.loss_scale, "loss scale at the end");
  v.field("skipped_steps", r.skipped_steps, "optimizer steps skipped by loss scaling");
  v.field("loader", r.loader, "input pipeline");
  v.field("weights", r.weights, "weights at the start");
  v.field("pauses", r.pauses, "what was done between and after the measured steps");
  v.field("evaluation", r.evaluation, "what evaluation gave");
  v.field("saved_weights", r.saved_weights, "weights written at the end");
  v.field("communication", r.communication, "gradient exchange");
  v.field("transports", r.transports, "how NCCL reached the other ranks");
  v.field("graph", r.graph, "the step as a CUDA graph");
  v.field("trace", r.trace, "what happened in the traced steps");
  v.field("parameters", r.parameters, "trainable parameters");
  v.field("parameter_hash", r.parameter_hash, "hash of the parameters at the end");
  v.field("memory", r.memory, "tensors held by the training");
  v.field("gpu_memory_peak_bytes", r.gpu_memory_peak_bytes, "peak of the caching allocator");
  v.field("choices", r.choices, "back ends and modes really used");
  v.field("notes", r.notes, "remarks of the worker");
  v.field("links", r.links, "what a worker that does not train measured of links");
}

/// Why a run did not end well.
struct RunFailure {
  // exception, killed, exited, hang, deadline, interrupted, out_of_memory, host, usage, protocol
  std::string kind;
  std::string message;
  int rank = -1;  // -1: the launcher
  std::string host;
  std::string device;
  std::string phase;
  std::int64_t last_step = 0;  // last completed
};
template <class V>
void visit_fields(RunFailure& f, V& v) {
  v.field("kind", f.kind, "what happened");
  v.field("message", f.message, "in words");
  v.field("rank", f.rank, "rank it happened on, -1 for the launcher");
  v.field("host", f.host, "host it happened on");
  v.field("device", f.device, "device of that rank");
  v.field("phase", f.phase, "what the rank was doing");
  v.field("last_step", f.last_step, "last completed step of that rank");
}

}  // namespace falcon
