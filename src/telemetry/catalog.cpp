#include "telemetry/catalog.h"

#include <algorithm>
#include <set>

#include "platform/block_device.h"
#include "platform/root.h"
#include "telemetry/cpu_sampler.h"
#include "telemetry/disk_sampler.h"
#include "telemetry/gpm_sampler.h"
#include "telemetry/gpu_counter_sampler.h"
#include "telemetry/gpu_health_sampler.h"
#include "telemetry/gpu_sampler.h"
#include "telemetry/memory_sampler.h"
#include "telemetry/network_sampler.h"
#include "telemetry/pcie_sampler.h"
#include "telemetry/process_sampler.h"

namespace falcon::telemetry {
namespace {

void make_cpu(const char* name, const SamplerContext& context, const std::string& disabled,
              Samplers& out) {
  const platform::Root root(context.root);
  out.push_back(std::make_unique<CpuSampler>(name, root, disabled));
  out.push_back(
      std::make_unique<ProcessSampler>(name, ProcessPart::kCpu, root, context.processes, disabled));
}

void make_memory(const char* name, const SamplerContext& context, const std::string& disabled,
                 Samplers& out) {
  const platform::Root root(context.root);
  out.push_back(std::make_unique<MemorySampler>(name, root, disabled));
  out.push_back(std::make_unique<ProcessSampler>(name, ProcessPart::kMemory, root,
                                                 context.processes, disabled));
}

void make_disk(const char* name, const SamplerContext& context, const std::string& disabled,
               Samplers& out) {
  const platform::Root root(context.root);
  out.push_back(std::make_unique<DiskSampler>(
      name, root, platform::device_number_of(context.data_folder), disabled));
  out.push_back(std::make_unique<ProcessSampler>(name, ProcessPart::kStorage, root,
                                                 context.processes, disabled));
}

void make_network(const char* name, const SamplerContext& context, const std::string& disabled,
                  Samplers& out) {
  out.push_back(std::make_unique<NetworkSampler>(name, platform::Root(context.root), disabled));
}

std::vector<WatchedGpu> watched_gpus(const SamplerContext& context) {
  std::vector<WatchedGpu> watched;
  std::set<std::string> seen;
  for (const DevicePlan& gpu : context.gpus) {
    if (gpu.uuid.empty() || !seen.insert(gpu.uuid).second) continue;
    watched.push_back({gpu.uuid, gpu.pci_address, context.nvml});
  }
  return watched;
}

void make_nvml(const char* name, const SamplerContext& context, const std::string& disabled,
               Samplers& out) {
  std::vector<std::int64_t> own_pids;
  for (const WatchedProcess& process : context.processes) own_pids.push_back(process.pid);
  for (const WatchedGpu& gpu : watched_gpus(context)) {
    auto counters = std::make_unique<GpuCounterSampler>(name, gpu, disabled);
    out.push_back(std::make_unique<GpuSampler>(name, gpu, counters->counted(), disabled));
    out.push_back(std::move(counters));
    out.push_back(std::make_unique<GpuHealthSampler>(name, gpu, own_pids,
                                                     platform::Root(context.root), disabled));
    if (context.uses_gpm && GpmSampler::can_tell(gpu)) continue;
    out.push_back(std::make_unique<PcieSampler>(name, gpu, disabled));
  }
}

void make_gpm(const char* name, const SamplerContext& context, const std::string& disabled,
              Samplers& out) {
  for (const WatchedGpu& gpu : watched_gpus(context)) {
    out.push_back(std::make_unique<GpmSampler>(name, gpu, disabled));
  }
}

void make_redfish(const char* name, const SamplerContext& context, const std::string& disabled,
                  Samplers& out) {
  for (const WatchedChassis& chassis : context.chassis) {
    out.push_back(std::make_unique<RedfishSampler>(name, chassis, disabled));
  }
}

}  // namespace

std::span<const SamplerRow> catalog() {
  static constexpr SamplerRow kRows[] = {
      {"cpu", make_cpu},         {"memory", make_memory}, {"disk", make_disk},
      {"network", make_network}, {"nvml", make_nvml},     {"gpm", make_gpm},
      {"redfish", make_redfish},
  };
  return kRows;
}

Samplers make_samplers(SamplerContext context,
                       const std::optional<std::vector<std::string>>& chosen) {
  const auto is_chosen = [&chosen](const char* name) {
    return !chosen || std::find(chosen->begin(), chosen->end(), name) != chosen->end();
  };
  context.uses_gpm = is_chosen("gpm");
  Samplers samplers;
  for (const SamplerRow& row : catalog()) {
    row.make(row.name, context,
             is_chosen(row.name) ? "" : std::string(row.name) + " is not among telemetry.samplers",
             samplers);
  }
  return samplers;
}

}  // namespace falcon::telemetry
