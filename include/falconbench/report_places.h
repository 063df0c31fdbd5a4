// Parts of the report: where the run took place - ranks, topology, storage.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/places.h"
#include "falconbench/plan.h"
#include "falconbench/records_parts.h"
#include "falconbench/statistics.h"
#include "falconbench/transports.h"

namespace falcon {

struct RankReport {
  int rank = 0;
  std::string host;
  Measured<std::int64_t> pid;
  std::vector<DevicePlan> devices;
  Measured<int> numa_node;
  std::vector<int> cpus;
  std::int64_t steps = 0;
  Statistics step_time_ms;
  Measured<double> own_step_ms, relative_to_fastest;
  Measured<MemoryRecord> memory;
  Measured<std::int64_t> gpu_memory_peak_bytes, peak_rss_bytes;
  Measured<double> user_s, system_s;
  Measured<std::string> parameter_hash;
  std::map<std::string, std::string> choices;
  std::string ended, last_phase;
  std::int64_t last_step = 0;
  std::vector<std::string> last_lines;
};
template <class V>
void visit_fields(RankReport& r, V& v) {
  v.field("rank", r.rank, "global rank");
  v.field("host", r.host, "host it ran on");
  v.field("pid", r.pid, "process id");
  v.field("devices", r.devices, "devices it computed on; as planned where it did not say");
  v.field("numa_node", r.numa_node, "NUMA node it is bound to");
  v.field("cpus", r.cpus, "CPUs it is bound to");
  v.field("steps", r.steps, "measured steps it executed");
  v.field("step_time_ms", r.step_time_ms, "its own step times");
  v.field(
      "own_step_ms", r.own_step_ms,
      "straggler view: mean step without communication_exposed, where ranks wait for each other");
  v.field("relative_to_fastest", r.relative_to_fastest, "own_step_ms / that of the fastest rank");
  v.field("memory", r.memory, "tensors held by the training on it, activations aside");
  v.field("gpu_memory_peak_bytes", r.gpu_memory_peak_bytes, "peak of the caching allocator");
  v.field("peak_rss_bytes", r.peak_rss_bytes, "peak host memory of the process");
  v.field("user_s", r.user_s, "CPU time in user mode");
  v.field("system_s", r.system_s, "CPU time in the kernel");
  v.field("parameter_hash", r.parameter_hash, "of all parameter bytes at the end");
  v.field("choices", r.choices, "back ends and modes really used");
  v.field("ended", r.ended, "how the process ended");
  v.field("last_phase", r.last_phase, "last phase it was in");
  v.field("last_step", r.last_step, "last step it completed, warm-up included");
  v.field("last_lines", r.last_lines, "last output lines of a process that failed");
}

struct TopologyGpu : GpuPlace {
  Measured<std::string> link_under_load;
};
template <class V>
void visit_fields(TopologyGpu& g, V& v) {
  visit_fields(static_cast<GpuPlace&>(g), v);
  v.field("link_under_load", g.link_under_load, "PCIe generation and width while training");
}

struct TopologyPair : PairPlace {
  Measured<std::string> transport;
};
template <class V>
void visit_fields(TopologyPair& p, V& v) {
  visit_fields(static_cast<PairPlace&>(p), v);
  v.field("transport", p.transport, "how NCCL reached the one from the other, from its log");
}

struct Topology {
  NameOrList requested;
  std::vector<DevicePlan> observed;
  std::string verdict = kUnknown;
  std::vector<std::string> evidence;
  bool emulated = false;
  std::vector<TopologyGpu> gpus;
  Measured<std::map<std::string, std::int64_t>> pair_classes;
  std::vector<TopologyPair> pairs;
  std::vector<SharedUplink> uplinks;
  Measured<StoragePlace> storage;
  std::vector<StoragePlace> other_storages;
  Measured<std::vector<Transport>> transports;
};
template <class V>
void visit_fields(Topology& t, V& v) {
  v.field("requested", t.requested, "as the spec says");
  v.field("observed", t.observed, "devices that the ranks computed on, in rank order");
  v.field("verdict", t.verdict, "matched, mismatched or unknown; unknown is not matched");
  v.field("evidence", t.evidence, "what the verdict rests on");
  v.field("emulated", t.emulated, "an effect of the chassis was imposed");
  v.field("gpus", t.gpus, "where each GPU sits, in rank order");
  v.field("pair_classes", t.pair_classes, "pair class -> number of pairs");
  v.field("pairs", t.pairs, "every two GPUs on one host");
  v.field("uplinks", t.uplinks, "links to the host that several devices of the run share");
  v.field("storage", t.storage, "the named storage: declared against seen");
  v.field("other_storages", t.other_storages, "the same of the other hosts of a run on several");
  v.field("transports", t.transports, "how ranks reached each other, from NCCL's log");
}

}  // namespace falcon
