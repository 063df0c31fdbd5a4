// What a worker of `falconbench links` is told to measure, and what it measured: plain windows of
// time, from which report::make_links() makes every figure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

/// The place of a flow that is no GPU.
inline constexpr int kHostMemory = -1;
/// Size of the copies that time a latency.
inline constexpr std::int64_t kLatencyBytes = 16;

/// Data from one place to another; a place is an index into the devices of the rank.
struct LinkFlow {
  int source = kHostMemory, target = kHostMemory;
};
template <class V>
void visit_fields(LinkFlow& f, V& v) {
  v.field("source", f.source, "device that data comes from, -1: host memory");
  v.field("target", f.target, "device that it goes to, -1: host memory");
}

/// Copies by one process that has all devices. Flows run at the same time.
struct CopyTask {
  std::vector<LinkFlow> flows;
  std::string method;  // as CopySeries::method, and "load"
  bool peer_to_peer = false;
  std::vector<std::int64_t> sizes_bytes;
};
template <class V>
void visit_fields(CopyTask& t, V& v) {
  v.field("flows", t.flows, "what is copied from where to where, at the same time");
  v.field("method", t.method, "who copies, and how");
  v.field("peer_to_peer", t.peer_to_peer, "the GPUs have access to each other meanwhile");
  v.field("sizes_bytes", t.sizes_bytes, "of one copy, ascending");
}

/// A collective by one process a device.
struct CollectiveTask {
  std::string operation;
  std::vector<std::int64_t> sizes_bytes;
};
template <class V>
void visit_fields(CollectiveTask& t, V& v) {
  v.field("operation", t.operation, "all_reduce, all_gather, reduce_scatter or broadcast");
  v.field("sizes_bytes", t.sizes_bytes, "of the whole, ascending");
}

struct LinkWork {
  std::vector<CopyTask> copies;             // by rank 0, which then is the only one
  std::vector<CollectiveTask> collectives;  // by all ranks
  std::vector<std::vector<int>> near_cpus;  // by device; empty: unknown
  std::int64_t windows = 5;                 // of each size
  double window_s = 0.005;                  // aimed at
};
template <class V>
void visit_fields(LinkWork& w, V& v) {
  v.field("copies", w.copies, "copies to time");
  v.field("collectives", w.collectives, "collectives to time");
  v.field("near_cpus", w.near_cpus, "CPUs of the NUMA node of each device");
  v.field("windows", w.windows, "windows of each size");
  v.field("window_s", w.window_s, "length of a window aimed at");
}

/// Windows of one size.
struct LinkWindows {
  std::int64_t size_bytes = 0;
  std::int64_t repeats = 0;                       // copies or calls in a window
  std::vector<double> seconds;                    // of each window, over all flows
  std::vector<std::vector<double>> flow_seconds;  // of each flow: of each window
  bool contents_match = false;                    // in every window
};
template <class V>
void visit_fields(LinkWindows& w, V& v) {
  v.field("size_bytes", w.size_bytes, "of one copy or call");
  v.field("repeats", w.repeats, "copies or calls in a window");
  v.field("seconds", w.seconds, "of each window, over all flows");
  v.field("flow_seconds", w.flow_seconds, "of each flow: of each window");
  v.field("contents_match", w.contents_match, "what arrived is what was sent, in every window");
}

/// Of one task.
struct LinkResult {
  std::vector<LinkWindows> by_size;
  std::string error;  // why there are none; empty: there are
};
template <class V>
void visit_fields(LinkResult& r, V& v) {
  v.field("by_size", r.by_size, "windows of each size");
  v.field("error", r.error, "why it could not be measured");
}

/// Where the host memory beside a device lies.
struct LinkMemory {
  Measured<int> node;
};
template <class V>
void visit_fields(LinkMemory& m, V& v) {
  v.field("node", m.node, "NUMA node of its first page");
}

struct LinkRecords {
  std::vector<LinkResult> copies, collectives;  // beside those of LinkWork
  std::vector<LinkFlow> peers;     // between which the runtime says that direct access is possible
  std::vector<LinkMemory> memory;  // by device
  std::string data_type;           // of the collectives
};
template <class V>
void visit_fields(LinkRecords& r, V& v) {
  v.field("copies", r.copies, "beside the tasks");
  v.field("collectives", r.collectives, "beside the tasks");
  v.field("peers", r.peers, "pairs with direct access, as the runtime says");
  v.field("memory", r.memory, "host memory of each device");
  v.field("data_type", r.data_type, "of the collectives");
}

}  // namespace falcon
