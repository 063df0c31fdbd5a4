// What will be done: the resolved spec, and everything that was decided from it before a device is
// touched. Made by plan::make(), pure; printed by --dry-run; sent to every worker as a WorkerPlan.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/finding.h"
#include "falconbench/links_work.h"
#include "falconbench/measured.h"
#include "falconbench/places.h"
#include "falconbench/plan_parts.h"
#include "falconbench/run_spec.h"
#include "falconbench/system_chassis.h"

namespace falcon {

struct DevicePlan {
  std::string kind;  // cpu or cuda
  std::string uuid, pci_address, name;
};
template <class V>
void visit_fields(DevicePlan& d, V& v) {
  v.field("kind", d.kind, "cpu or cuda");
  v.field("uuid", d.uuid, "GPU UUID");
  v.field("pci_address", d.pci_address, "GPU PCI address");
  v.field("name", d.name, "product name, or CPU");
}

struct RankPlan {
  int rank = 0;
  std::string host;
  std::vector<DevicePlan> devices;
  Measured<int> numa_node;
  std::vector<int> cpus;    // the worker is bound to these
  int decode_threads = 1;   // of the loader
  int compute_threads = 1;  // of Torch's CPU operators
};
template <class V>
void visit_fields(RankPlan& r, V& v) {
  v.field("rank", r.rank, "global rank");
  v.field("host", r.host, "host it runs on");
  v.field("devices", r.devices, "its devices");
  v.field("numa_node", r.numa_node, "NUMA node it is bound to");
  v.field("cpus", r.cpus, "CPUs it is bound to");
  v.field("decode_threads", r.decode_threads, "loader threads");
  v.field("compute_threads", r.compute_threads, "CPU operator threads");
}

struct Plan {
  RunSpec spec;  // resolved: every default filled in
  std::map<std::string, std::string>
      spec_origin;          // dotted key -> default, file:line, --set, model default, host
  std::string spec_hash;    // SHA-256, hex
  std::string run_id;       // unique: time and random
  std::string task;         // of the model, which says what evaluate measures
  std::string parallelism;  // a catalog word
  std::string backend;      // nccl, gloo or none
  std::vector<std::string> topology_devices;  // names or addresses, in order
  Places places;
  std::map<std::string, SystemChassis> chassis;  // whose management this host's launcher asks
  NcclPlan nccl;
  std::vector<RankPlan> ranks;
  DataFacts data;
  FilePlan files;
  std::int64_t micro_batch = 0;     // samples of one forward pass of a rank
  std::int64_t batch_per_rank = 0;  // spec.accumulate of them
  std::int64_t global_batch = 0;
  std::int64_t steps_per_epoch = 0;    // full global batches
  std::int64_t dropped_per_epoch = 0;  // samples of the last, partial batch
  std::int64_t first_step = 0;         // of the training: those before are in checkpoint.resume
  std::int64_t warmup_steps = 0;
  std::optional<std::int64_t> measured_steps;    // absent: budget.seconds decides
  std::optional<std::int64_t> checkpoint_steps;  // measured, from one to the next
  bool graphs = false;                           // the step is to be captured as a CUDA graph
  MemoryEstimate memory;
  std::vector<Finding> findings;
};
/// The fields of a plan that are not the spec's: what was decided.
template <class V>
void visit_decisions(Plan& p, V& v) {
  v.field("task", p.task, "what the model does");
  v.field("parallelism", p.parallelism, "strategy");
  v.field("backend", p.backend, "communication library");
  v.field("topology_devices", p.topology_devices, "devices of the topology, in rank order");
  v.field("places", p.places, "where they sit: declared against seen");
  v.field(
      "chassis", p.chassis,
      "chassis of these devices by name, as the system file describes them: asked for what their "
      "ports count");
  v.field("nccl", p.nccl, "what NCCL is told, the same on all ranks");
  v.field("ranks", p.ranks, "what each worker gets");
  v.field("data", p.data, "facts of the data set");
  v.field("files", p.files, "files beside the data");
  v.field("micro_batch", p.micro_batch, "samples of one forward pass of a rank");
  v.field("batch_per_rank", p.batch_per_rank, "samples of one rank in one step");
  v.field("global_batch", p.global_batch, "samples of all ranks in one step");
  v.field("steps_per_epoch", p.steps_per_epoch, "full global batches in one epoch");
  v.field("dropped_per_epoch", p.dropped_per_epoch, "samples of the last, partial batch, left out");
  v.field("first_step", p.first_step, "steps that the training had before this run");
  v.field("warmup_steps", p.warmup_steps, "steps before the measured ones");
  v.field("measured_steps", p.measured_steps, "measured steps (absent: seconds decide)");
  v.field("checkpoint_steps", p.checkpoint_steps, "measured steps from checkpoint to checkpoint");
  v.field("graphs", p.graphs, "whether the step is to be captured as a CUDA graph");
  v.field("memory", p.memory, "estimate for one device");
}
template <class V>
void visit_fields(Plan& p, V& v) {
  v.field("spec", p.spec, "the resolved spec");
  v.field("spec_origin", p.spec_origin, "where each value came from");
  v.field("spec_hash", p.spec_hash,
          "SHA-256 of the resolved spec without name, output, timeout_s, telemetry");
  v.field("run_id", p.run_id, "unique id of this run");
  visit_decisions(p, v);
  v.field("findings", p.findings, "what planning noticed");
}

/// What one worker is told, as the first message on its control channel.
struct WorkerPlan {
  int protocol = 0;  // launch::kProtocolVersion
  Plan plan;
  int rank = 0;
  std::string store_host;  // rendezvous: rank 0 serves it on the inherited listening socket, or
  int store_port = 0;      // torchrun's agent does
  std::string address;     // of this host, by which ranks on others reach it
  double watchdog_s = 60;  // communication time limit
  std::optional<LinkWork> links;  // instead of training
};
template <class V>
void visit_fields(WorkerPlan& w, V& v) {
  v.field("protocol", w.protocol, "message version");
  v.field("plan", w.plan, "the whole plan");
  v.field("rank", w.rank, "which rank this worker is");
  v.field("store_host", w.store_host, "rendezvous host");
  v.field("store_port", w.store_port, "rendezvous port");
  v.field("address", w.address, "address of this host for ranks on others");
  v.field("watchdog_s", w.watchdog_s, "communication time limit");
  v.field("links", w.links, "links to measure instead of training");
}

}  // namespace falcon
