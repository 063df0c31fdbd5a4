#include "telemetry/catalog.h"

#include <algorithm>
#include <set>

#include "platform/block_device.h"
#include "platform/root.h"
#include "telemetry/cpu_sampler.h"
#include "telemetry/disk_sampler.h"
#include "telemetry/gpu_sampler.h"
#include "telemetry/memory_sampler.h"
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

void make_nvml(const char* name, const SamplerContext& context, const std::string& disabled,
               Samplers& out) {
  std::set<std::string> seen;
  for (const DevicePlan& gpu : context.gpus) {
    if (gpu.uuid.empty() || !seen.insert(gpu.uuid).second) continue;
    const WatchedGpu watched{gpu.uuid, gpu.pci_address, context.nvml};
    out.push_back(std::make_unique<GpuSampler>(name, watched, disabled));
    out.push_back(std::make_unique<PcieSampler>(name, watched, disabled));
  }
}

}  // namespace

std::span<const SamplerRow> catalog() {
  static constexpr SamplerRow kRows[] = {
      {"cpu", make_cpu},
      {"memory", make_memory},
      {"disk", make_disk},
      {"nvml", make_nvml},
  };
  return kRows;
}

Samplers make_samplers(const SamplerContext& context,
                       const std::optional<std::vector<std::string>>& chosen) {
  Samplers samplers;
  for (const SamplerRow& row : catalog()) {
    const bool is_chosen =
        !chosen || std::find(chosen->begin(), chosen->end(), row.name) != chosen->end();
    row.make(row.name, context,
             is_chosen ? "" : std::string(row.name) + " is not among telemetry.samplers", samplers);
  }
  return samplers;
}

}  // namespace falcon::telemetry
