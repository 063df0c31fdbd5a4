// The functions of libnvidia-ml that Nvml calls, found by name when the library is loaded. Private
// to the files that implement Nvml.
#pragma once
#include "platform/nvml.h"

namespace falcon::platform {

/// A pointer is null where the library is too old for the function. Versioned names: an unversioned
/// one has an older layout.
struct NvmlFunctions {
  using Text = nvml::Code (*)(nvml::Handle, char*, unsigned);
  using Number = nvml::Code (*)(nvml::Handle, unsigned*);
  using Number64 = nvml::Code (*)(nvml::Handle, unsigned long long*);
  using NumberOf = nvml::Code (*)(nvml::Handle, unsigned, unsigned*);
  using Processes = nvml::Code (*)(nvml::Handle, unsigned*, nvml::ProcessInfo*);

  nvml::Code (*init)() = nullptr;
  nvml::Code (*shutdown)() = nullptr;
  const char* (*error_text)(nvml::Code) = nullptr;
  nvml::Code (*driver_version)(char*, unsigned) = nullptr;
  nvml::Code (*cuda_version)(int*) = nullptr;
  nvml::Code (*count)(unsigned*) = nullptr;
  nvml::Code (*by_index)(unsigned, nvml::Handle*) = nullptr;
  nvml::Code (*by_uuid)(const char*, nvml::Handle*) = nullptr;
  Text uuid = nullptr, name = nullptr;
  nvml::Code (*pci_info)(nvml::Handle, nvml::PciInfo*) = nullptr;
  nvml::Code (*compute_capability)(nvml::Handle, int*, int*) = nullptr;
  nvml::Code (*memory)(nvml::Handle, nvml::Memory*) = nullptr;
  nvml::Code (*memory_v2)(nvml::Handle, nvml::MemoryV2*) = nullptr;
  nvml::Code (*utilization)(nvml::Handle, nvml::Utilization*) = nullptr;
  Number generation = nullptr, generation_max = nullptr, width = nullptr, width_max = nullptr;
  Number power_limit = nullptr, power_limit_default = nullptr, power = nullptr;
  Number64 energy = nullptr, event_reasons = nullptr;
  NumberOf clock = nullptr, clock_max = nullptr, temperature = nullptr, pcie_throughput = nullptr;
  NumberOf nvlink_state = nullptr, nvlink_partner_kind = nullptr;
  nvml::Code (*nvlink_partner)(nvml::Handle, unsigned, nvml::PciInfo*) = nullptr;
  Processes compute_processes = nullptr, graphics_processes = nullptr;
  nvml::Code (*ecc_errors)(nvml::Handle, unsigned kind, unsigned since,
                           unsigned long long*) = nullptr;
  nvml::Code (*fields)(nvml::Handle, int, nvml::FieldValue*) = nullptr;

  nvml::Code (*gpm_support)(nvml::Handle, nvml::GpmSupport*) = nullptr;
  nvml::Code (*gpm_alloc)(nvml::GpmSample*) = nullptr;
  nvml::Code (*gpm_free)(nvml::GpmSample) = nullptr;
  nvml::Code (*gpm_sample)(nvml::Handle, nvml::GpmSample) = nullptr;
  nvml::Code (*gpm_metrics)(nvml::GpmMetricsGet*) = nullptr;

  /// library: of dlopen.
  explicit NvmlFunctions(void* library);
};

}  // namespace falcon::platform
