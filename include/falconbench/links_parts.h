// Parts of what `falconbench links` says (falconbench/links.h): speeds of copies and collectives.
// All speeds are payload, GB = 1e9 bytes; every spread is over windows of several repeats each.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

/// Median of several windows (or pairs) with the smallest and the largest. The unit stands in the
/// name of the field that holds this.
struct Spread {
  std::int64_t count = 0;
  Measured<double> median, min, max;
};
template <class V>
void visit_fields(Spread& s, V& v) {
  v.field("count", s.count, "number of values");
  v.field("median", s.median, "middle one");
  v.field("min", s.min, "smallest");
  v.field("max", s.max, "largest");
}

/// Copies of one size.
struct CopyFigure {
  std::int64_t size_bytes = 0;
  std::int64_t copies = 0;
  Spread bytes_per_s;
  Measured<bool> contents_match;
};
template <class V>
void visit_fields(CopyFigure& f, V& v) {
  v.field("size_bytes", f.size_bytes, "of one copy");
  v.field("copies", f.copies, "copies in a window, one after another");
  v.field("bytes_per_s", f.bytes_per_s, "payload over time; both ways: the sum of the two");
  v.field("contents_match", f.contents_match, "every window delivered what was sent, byte by byte");
}

/// One way of copying between two places, by size.
struct CopySeries {
  std::string method;
  bool both_ways = false;
  bool peer_to_peer = false;
  Measured<double> bytes_per_s;
  std::vector<CopyFigure> by_size;
};
template <class V>
void visit_fields(CopySeries& s, V& v) {
  v.field("method", s.method,
          "write (copy engine of the source), read (copy engine of the target), kernel_write, "
          "kernel_read (stores and loads of a kernel), host_to_device, device_to_host, memcpy");
  v.field("both_ways", s.both_ways, "the opposite copy runs at the same time; speeds are the sum");
  v.field("peer_to_peer", s.peer_to_peer, "direct; false: through host memory");
  v.field("bytes_per_s", s.bytes_per_s, "median at the largest size");
  v.field("by_size", s.by_size, "ascending");
}

struct LatencyFigure {
  std::string method;
  bool peer_to_peer = false;
  Spread latency_s;
};
template <class V>
void visit_fields(LatencyFigure& l, V& v) {
  v.field("method", l.method,
          "as of copies: 16 bytes, many back to back in one stream; load: a kernel of the target "
          "that waits for each of its loads from the source");
  v.field("peer_to_peer", l.peer_to_peer, "direct; false: through host memory");
  v.field("latency_s", l.latency_s, "one copy or load");
}

/// The figures of GPUs that a table needs: medians at the largest size.
template <class Figure>
struct BetweenGpus {
  Figure write_bytes_per_s, read_bytes_per_s, both_bytes_per_s, latency_s;
};
template <class Figure, class V>
void visit_fields(BetweenGpus<Figure>& f, V& v) {
  v.field("write_bytes_per_s", f.write_bytes_per_s, "one way, copy engine of the source");
  v.field("read_bytes_per_s", f.read_bytes_per_s, "one way, copy engine of the target");
  v.field("both_bytes_per_s", f.both_bytes_per_s, "write both ways at once, sum of the two");
  v.field("latency_s", f.latency_s, "16-byte copies back to back");
}
using PairFigures = BetweenGpus<Measured<double>>;
using ClassFigures = BetweenGpus<Spread>;  // over all pairs of a class

/// A collective of one size. Bus bandwidth as nccl-tests defines it (doc/PERFORMANCE.md): size /
/// time, times 2 (n - 1) / n for all_reduce, (n - 1) / n for all_gather and reduce_scatter, 1 for
/// broadcast.
struct CollectiveFigure {
  std::int64_t size_bytes = 0;
  std::int64_t calls = 0;
  Spread time_s;
  Measured<double> bus_bytes_per_s;
  Measured<bool> contents_match;
};
template <class V>
void visit_fields(CollectiveFigure& f, V& v) {
  v.field("size_bytes", f.size_bytes,
          "of the whole: all_gather's output, reduce_scatter's input, else the buffer of a rank");
  v.field("calls", f.calls, "collectives in a window, one after another");
  v.field("time_s", f.time_s, "of one call; of each window the slowest rank's");
  v.field("bus_bytes_per_s", f.bus_bytes_per_s, "bus bandwidth of the median time");
  v.field("contents_match", f.contents_match, "every window gave the right result on every rank");
}

struct CollectiveSeries {
  std::string operation;
  bool peer_to_peer = false;
  std::string backend, data_type;
  std::int64_t ranks = 0;
  Measured<std::vector<std::string>> transports;
  Measured<double> bus_bytes_per_s;
  std::vector<CollectiveFigure> by_size;
};
template <class V>
void visit_fields(CollectiveSeries& s, V& v) {
  v.field("operation", s.operation, "all_reduce, all_gather, reduce_scatter or broadcast");
  v.field("peer_to_peer", s.peer_to_peer, "false: NCCL_P2P_DISABLE=1, or Gloo");
  v.field("backend", s.backend, "nccl or gloo");
  v.field("data_type", s.data_type, "of the elements");
  v.field("ranks", s.ranks, "one process a device");
  v.field("transports", s.transports, "kinds that NCCL's log names, each once");
  v.field("bus_bytes_per_s", s.bus_bytes_per_s, "at the largest size");
  v.field("by_size", s.by_size, "ascending");
}

}  // namespace falcon
