// How long a set of GPUs takes to sum gradients: measured collectives or pair bandwidths, carried
// over to other numbers of GPUs and, through networks, to many hosts and groups of hosts. Pure.
#pragma once
#include <string>
#include <vector>

namespace falcon::analysis {

/// One measured all-reduce: bytes of a rank's buffer, seconds of a call; low and high are the
/// fastest and slowest windows.
struct ReducePoint {
  double bytes = 0, time_s = 0, low_s = 0, high_s = 0;
};

/// How the figures of a fabric were had.
inline constexpr const char* kLinksMeasured = "measured";
inline constexpr const char* kLinksDeclared = "declared";  // by a system file
inline constexpr const char* kLinksUsual = "usual";        // some as seen on other machines
inline constexpr const char* kLinksGiven = "given";        // on the command line

/// GPUs of one host (or chassis) and what lies between them.
struct Fabric {
  std::string name;
  int devices = 2;                  // ranks of the measured calls, at least 2
  std::vector<ReducePoint> points;  // ascending by bytes, not empty
  std::string source;               // where the figures come from, in words
  std::string basis = kLinksMeasured;
};

/// What joins groups of GPUs (hosts, racks of hosts) to the next larger group.
struct Level {
  int devices = 1;         // of one group
  double bytes_per_s = 0;  // one way, of a whole group
  double latency_s = 0;
};

/// Which end of the measured spread is meant.
enum class Pace { kTypical, kFast, kSlow };

/// Seconds of one all-reduce of so many bytes a rank among the GPUs of one fabric. Between the
/// measured sizes time is linear in the bytes, below the smallest it is that of the smallest, above
/// the largest the last slope goes on. To another number of ranks n the ring model carries it: the
/// smallest call stands for latency, 2 (n - 1) hops; the rest for bytes, 2 (n - 1) / n (Patarasuk
/// and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009).
/// REQUIRES: ranks >= 1; one rank takes no time.
double all_reduce_s(const Fabric& fabric, double bytes, int ranks, Pace pace = Pace::kTypical);

/// The same up a hierarchy: summed inside each group of the first level by its fabric, then in a
/// ring over the groups of each level in turn, and back; the parts do not overlap. Seconds of each
/// part, the fabric's first. The last group of a level may hold fewer.
/// REQUIRES: the groups of each level are larger than those before.
std::vector<double> all_reduce_parts_s(const Fabric& fabric, const std::vector<Level>& levels,
                                       double bytes, int ranks, Pace pace = Pace::kTypical);

/// A ring at so many bytes/s one way a hop (bus bandwidth as nccl-tests define it) and this latency
/// a hop.
Fabric ring_fabric(const std::string& name, double bus_bytes_per_s, double hop_latency_s,
                   const std::string& source);

}  // namespace falcon::analysis
