#include <algorithm>
#include <set>

#include "report/figures.h"
#include "report/findings.h"

namespace falcon::report::rules {
namespace {

constexpr double kPowerCap = 0.98;     // of the default limit; below, somebody lowered it
constexpr double kLockedClock = 0.75;  // of the largest clock; boards boost to above it
constexpr double kBusyPct = 50;        // an idle GPU has low clocks
constexpr double kExplainedPct = 5;    // of the window: clocks are low because of a throttle
constexpr std::int64_t kMaxPairs = 6;  // that are named
constexpr double kQuotaShare = 0.02;   // of the window
constexpr std::int64_t kSharedMemoryPerRank = std::int64_t{64} << 20;  // NCCL's buffers and queues

std::string at(const std::string& pci_address) {
  return "GPU " + pci_address;
}

std::string megahertz(double value) {
  return figure(value) + " MHz";
}

const Gpu* find_gpu(const Host& host, const std::string& uuid) {
  const auto found = std::find_if(host.gpus.begin(), host.gpus.end(),
                                  [&uuid](const Gpu& gpu) { return gpu.uuid == uuid; });
  return found == host.gpus.end() ? nullptr : &*found;
}

double throttled_pct(const std::vector<ThrottleShare>& shares) {
  double sum = 0;
  for (const ThrottleShare& share : shares) sum += share.reason == "idle" ? 0 : share.share_pct;
  return sum;
}

/// "ecc 3" for a count above 0.
void add_count(const Measured<std::int64_t>& count, const char* what, std::string& evidence) {
  if (!count.has_value() || *count == 0) return;
  evidence += (evidence.empty() ? "" : ", ") + std::to_string(*count) + " " + what;
}

void add_sign(const Measured<bool>& sign, const char* what, std::string& evidence) {
  if (!sign.has_value() || !*sign) return;
  evidence += (evidence.empty() ? "" : ", ") + std::string(what);
}

/// CPUs of the node; empty: unknown.
std::set<int> cpus_of(const Host& host, int node) {
  for (const NumaNode& one : host.numa_nodes) {
    if (one.id == node) return {one.cpus.begin(), one.cpus.end()};
  }
  return {};
}

bool uses_gpus(const Observation& o) {
  return !o.report.topology.gpus.empty();
}

}  // namespace

Notes gpu_power_capped(const Observation& o) {
  Notes notes;
  for (const GpuTelemetry& gpu : o.report.utilization.gpus) {
    const Measured<double>& limit = gpu.power_limit_w;
    const Measured<double>& usual = gpu.power_limit_default_w;
    if (!limit.has_value() || !usual.has_value() || *limit >= kPowerCap * *usual) continue;
    notes.push_back({at(gpu.pci_address) + " is limited below its default power",
                     figure(*limit) + " W of " + figure(*usual) + " W",
                     "nvidia-smi -pl, or ask who runs the machine"});
  }
  return notes;
}

Notes gpu_clocks_low(const Observation& o) {
  Notes notes;
  for (const GpuTelemetry& gpu : o.report.utilization.gpus) {
    const bool is_known = gpu.sm_clock_mhz.has_value() && gpu.sm_clock_max_mhz.has_value() &&
                          gpu.gpu_busy_pct.has_value() && gpu.throttle.has_value();
    if (!is_known || gpu.gpu_busy_pct.value->mean < kBusyPct) continue;
    if (throttled_pct(*gpu.throttle) >= kExplainedPct) continue;  // gpu_throttled tells it
    const double highest = gpu.sm_clock_mhz.value->max;
    if (highest >= kLockedClock * *gpu.sm_clock_max_mhz) continue;
    notes.push_back(
        {at(gpu.pci_address) + " worked at low clocks, and not because of power or heat",
         "at most " + megahertz(highest) + " of " + megahertz(*gpu.sm_clock_max_mhz),
         "somebody may have locked them: nvidia-smi -rgc and -rac undo it"});
  }
  return notes;
}

Notes gpu_shared(const Observation& o) {
  Notes notes;
  for (const GpuTelemetry& gpu : o.report.utilization.gpus) {
    if (!gpu.foreign_processes.has_value() || gpu.foreign_processes.value->empty()) continue;
    std::string evidence;
    for (const GpuProcess& process : *gpu.foreign_processes) {
      evidence += (evidence.empty() ? "pid " : ", pid ") + std::to_string(process.pid) +
                  (process.name.empty() ? "" : " (" + process.name + ")");
    }
    notes.push_back({at(gpu.pci_address) + " was also used by others while measuring", evidence,
                     "end these processes, or choose other GPUs with topology"});
  }
  return notes;
}

Notes gpu_memory_faulty(const Observation& o) {
  Notes notes;
  for (const GpuTelemetry& gpu : o.report.utilization.gpus) {
    std::string evidence;
    add_count(gpu.memory_health.new_ecc_uncorrected, "errors that could not be put right",
              evidence);
    add_sign(gpu.memory_health.remap_failed, "a row could not be replaced", evidence);
    if (evidence.empty()) continue;
    notes.push_back({"the memory of " + at(gpu.pci_address) + " is faulty", evidence,
                     "do not use the figures; reset or replace the board"});
  }
  return notes;
}

Notes gpu_memory_worn(const Observation& o) {
  Notes notes;
  for (const GpuTelemetry& gpu : o.report.utilization.gpus) {
    const GpuMemoryHealth& health = gpu.memory_health;
    std::string evidence;
    add_count(health.new_ecc_corrected, "errors put right while measuring", evidence);
    add_sign(health.remap_pending, "a row waits for a reset to be replaced", evidence);
    add_sign(health.page_retirement_pending, "a page waits for a reset to be retired", evidence);
    if (evidence.empty()) continue;
    notes.push_back({"the memory of " + at(gpu.pci_address) + " has errors or waits for repair",
                     evidence, "reset the GPU when nobody uses it, and watch it"});
  }
  return notes;
}

Notes numa_mismatch(const Observation& o) {
  const Host& host = o.report.system;
  if (host.numa_nodes.size() < 2) return {};
  Notes notes;
  for (const RankReport& rank : o.report.ranks) {
    for (const DevicePlan& device : rank.devices) {
      const Gpu* gpu = device.uuid.empty() ? nullptr : find_gpu(host, device.uuid);
      if (gpu == nullptr || !gpu->numa_node.has_value() || rank.cpus.empty()) continue;
      const std::set<int> near = cpus_of(host, *gpu->numa_node);
      if (near.empty()) continue;
      const auto far = std::count_if(rank.cpus.begin(), rank.cpus.end(),
                                     [&near](int cpu) { return !near.contains(cpu); });
      if (far == 0) continue;
      notes.push_back(
          {"rank " + std::to_string(rank.rank) + " ran on CPUs of another NUMA node than its GPU's",
           std::to_string(far) + " of its " + std::to_string(rank.cpus.size()) +
               " CPUs are not of node " + std::to_string(*gpu->numa_node) + ", where " +
               at(gpu->pci_address) + " sits",
           "copies to the GPU cross the sockets: give this process CPUs of that node"});
    }
  }
  return notes;
}

Notes cpu_quota_throttled(const Observation& o) {
  const Utilization& utilization = o.report.utilization;
  const Measured<double>& throttled_s = utilization.host.cpu_throttled_s;
  if (!throttled_s.has_value() || !utilization.window_s.has_value()) return {};
  if (*throttled_s <= kQuotaShare * *utilization.window_s) return {};
  return {{"the container's CPU quota held threads back while measuring",
           figure(*throttled_s) + " s of waiting, summed over CPUs, in a window of " +
               figure(*utilization.window_s) + " s",
           "raise the quota, or lower data.loader.threads"}};
}

Notes shared_memory_small(const Observation& o) {
  const Plan& plan = o.evidence.plan;
  const Measured<std::int64_t>& free_bytes = o.report.system.shared_memory_bytes;
  if (plan.backend != "nccl" || !free_bytes.has_value()) return {};
  const std::int64_t needed = kSharedMemoryPerRank * static_cast<std::int64_t>(plan.ranks.size());
  if (*free_bytes >= needed) return {};
  return {{"/dev/shm is small: NCCL may fail or take slower ways",
           std::to_string(*free_bytes) + " bytes free, " + std::to_string(needed) +
               " are wanted for " + std::to_string(plan.ranks.size()) + " ranks",
           "start the container with --shm-size=1g, or with --ipc=host"}};
}

Notes peer_access_blocked(const Observation& o) {
  std::string pairs;
  std::int64_t count = 0;
  const std::vector<TopologyGpu>& used = o.report.topology.gpus;
  for (const TopologyGpu& one : used) {
    const Gpu* gpu = find_gpu(o.report.system, one.uuid);
    if (gpu == nullptr || !gpu->peers.has_value()) continue;
    const std::vector<std::string>& peers = *gpu->peers;
    for (const TopologyGpu& other : used) {
      if (other.pci_address == one.pci_address ||
          std::find(peers.begin(), peers.end(), other.pci_address) != peers.end()) {
        continue;
      }
      if (++count <= kMaxPairs) {
        pairs += (pairs.empty() ? "" : ", ") + one.pci_address + " to " + other.pci_address;
      }
    }
  }
  if (count == 0) return {};
  if (count > kMaxPairs) pairs += " and " + std::to_string(count - kMaxPairs) + " more";
  return {{"some GPUs of the run may not reach each other's memory directly",
           "CUDA refuses peer access from " + pairs,
           "what they exchange goes through host memory; look at IOMMU, ACS and virtualisation"}};
}

Notes iommu_translates(const Observation& o) {
  if (!uses_gpus(o)) return {};
  Notes notes;
  for (const TopologyGpu& used : o.report.topology.gpus) {
    const Gpu* gpu = find_gpu(o.report.system, used.uuid);
    if (gpu == nullptr || !gpu->iommu.has_value() || !gpu->iommu.value->starts_with("DMA"))
      continue;
    notes.push_back(
        {"the IOMMU translates what " + at(gpu->pci_address) + " reads and writes",
         "type of its group: " + *gpu->iommu,
         "copies between GPUs may go up to the root complex: iommu=pt or off in the kernel's "
         "command line"});
  }
  return notes;
}

}  // namespace falcon::report::rules
