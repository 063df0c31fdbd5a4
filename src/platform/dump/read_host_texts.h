// Small texts about a host: numactl --hardware, lscpu, /proc/driver/nvidia, nvidia-smi dmon, and
// what the p2pBandwidthLatencyTest of CUDA's samples prints.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace falcon::platform {

struct NumactlNode {
  int id = 0;
  std::vector<int> cpus;
  std::optional<std::int64_t> memory_bytes;
};
bool begins_numactl(std::string_view line);
std::vector<NumactlNode> read_numactl(std::string_view text);

struct CpuListing {
  std::string hypervisor;  // empty: none is named
  std::string architecture;
  std::vector<std::pair<int, std::string>> nodes;  // NUMA node, list of its CPUs
};
bool begins_lscpu(std::string_view line);
CpuListing read_lscpu(std::string_view text);

struct DriverFiles {
  std::string driver;
  std::vector<std::pair<std::string, std::string>> gpus;  // bus id, model
};
bool begins_driver_files(std::string_view line);
DriverFiles read_driver_files(std::string_view text);

bool begins_dmon(std::string_view line);
/// Indices of the GPUs in it, sorted.
std::vector<int> read_dmon(std::string_view text);

/// Medians and ranges of all pairs of different GPUs.
struct PeerTest {
  int pairs = 0, can_access = 0;
  std::optional<double> one_way_off, one_way_on, both_ways_off, both_ways_on;  // GB/s
  std::optional<std::pair<double, double>> latency_off_us, latency_on_us;      // least, most
  std::vector<std::pair<int, std::string>> gpus;                               // index, name
};
bool begins_peer_test(std::string_view line);
PeerTest read_peer_test(std::string_view text);

}  // namespace falcon::platform
