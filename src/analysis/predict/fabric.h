// How long a set of GPUs takes to sum gradients: measured collectives or pair bandwidths, carried
// over to other numbers of GPUs and, through a network, to many hosts. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace falcon::analysis {

/// One measured all-reduce: bytes of a rank's buffer, seconds of a call; low and high are the
/// fastest and slowest windows.
struct ReducePoint {
  double bytes = 0, time_s = 0, low_s = 0, high_s = 0;
};

/// GPUs of one host (or chassis) and what lies between them.
struct Fabric {
  std::string name;
  int devices = 2;                  // ranks of the measured calls, at least 2
  std::vector<ReducePoint> points;  // ascending by bytes, not empty
  std::string source;               // where the figures come from, in words
};

/// Link of a host to the others.
struct Network {
  double bytes_per_s = 0;  // one way, of the whole host
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

/// The same over hosts of ranks_per_host GPUs each: sum inside each host, a ring over the hosts
/// through their networks, and back; the parts do not overlap. The last host may hold fewer.
double all_reduce_s(const Fabric& fabric, const Network& network, double bytes, int ranks,
                    int ranks_per_host, Pace pace = Pace::kTypical);

/// A ring at so many bytes/s one way a hop (bus bandwidth as nccl-tests define it) and this latency
/// a hop.
Fabric ring_fabric(const std::string& name, double bus_bytes_per_s, double hop_latency_s,
                   const std::string& source);

}  // namespace falcon::analysis
