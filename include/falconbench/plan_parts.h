// Parts of a plan (falconbench/plan.h): what its data is, what its devices will hold, where its
// files lie.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "falconbench/dataset.h"
#include "falconbench/fields.h"

namespace falcon {

/// Facts of the data set, known before the run (data::survey in the launcher).
struct DataFacts {
  std::int64_t samples = 0;  // in one epoch
  std::int64_t classes = 0;
  std::int64_t validation = 0;
  std::string folder;                           // absolute; empty for synthetic
  std::map<std::string, std::int64_t> skipped;  // left out by the scan: reason -> number
  std::vector<SkippedItem> skipped_items;       // the first 100 of them
  std::string unknown;  // why the data could not be looked at; empty: it was
};
template <class V>
void visit_fields(DataFacts& d, V& v) {
  v.field("samples", d.samples, "samples in one epoch");
  v.field("classes", d.classes, "classes");
  v.field("validation", d.validation, "samples to evaluate on; 0 without evaluate");
  v.field("folder", d.folder, "absolute folder that is read");
  v.field("skipped", d.skipped, "items left out by the scan: reason -> number");
  v.field("skipped_items", d.skipped_items, "the first 100 of them");
  v.field("unknown", d.unknown, "why the data was not looked at (a plan for another machine)");
}

/// Files that the run reads and writes beside its data: absolute, empty where there is none.
struct FilePlan {
  std::string init, resume, checkpoint, save_weights, telemetry_raw;
};
template <class V>
void visit_fields(FilePlan& f, V& v) {
  v.field("init", f.init, "weights to start from");
  v.field("resume", f.resume, "checkpoint to go on from");
  v.field("checkpoint", f.checkpoint, "checkpoint that is written, again and again");
  v.field("save_weights", f.save_weights, "weights that are written at the end");
  v.field("telemetry_raw", f.telemetry_raw, "readings of the telemetry, written as they come");
}

struct MemoryEstimate {
  std::int64_t weights_bytes = 0, gradients_bytes = 0, optimizer_bytes = 0, activations_bytes = 0,
               total_bytes = 0;
  std::string basis;  // how it was had
};
template <class V>
void visit_fields(MemoryEstimate& m, V& v) {
  v.field("weights_bytes", m.weights_bytes, "parameters and buffers");
  v.field("gradients_bytes", m.gradients_bytes, "gradients and reduction buckets");
  v.field("optimizer_bytes", m.optimizer_bytes, "optimizer state");
  v.field("activations_bytes", m.activations_bytes, "activations kept for the backward pass");
  v.field("total_bytes", m.total_bytes, "sum, per device");
  v.field("basis", m.basis, "how the estimate was made");
}

/// What the NCCL of every rank is told: the same for all.
struct NcclPlan {
  std::map<std::string, std::string> environment;
  std::string topology;  // XML for NCCL_TOPO_FILE; empty: as NCCL finds it
};
template <class V>
void visit_fields(NcclPlan& n, V& v) {
  v.field("environment", n.environment, "environment variables set in every worker");
  v.field("topology", n.topology, "topology file that NCCL is given, empty: as it finds it");
}

}  // namespace falcon
